# recallseg serve as an ordinary user. Build with `docker build -t recallseg .`; docs/container.md has the rest.
FROM python:3.12-slim

RUN useradd --create-home --uid 10001 recallseg
WORKDIR /opt/recallseg
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
# The CPU build of torch; for a GPU, leave the index out and take an image with CUDA.
RUN pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu 'torch==2.13.0' 'torchvision==0.28.0' \
 && pip install --no-cache-dir -c constraints.txt '.[serve]'

USER recallseg
WORKDIR /home/recallseg
ENV RECALLSEG_CACHE=/home/recallseg/cache
EXPOSE 8000
# The model is mounted read-only at /model. Beyond loopback a token is a must: set RECALLSEG_TOKEN, or read the one
# that is printed.
ENTRYPOINT ["recallseg"]
CMD ["serve", "/model", "--host", "0.0.0.0", "--port", "8000"]
