"""`python -m recallseg` is the same as the `recallseg` command."""

from recallseg.cli.main import main

if __name__ == "__main__":
    main()
