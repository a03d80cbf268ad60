"use strict";
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.show !== undefined) {
    const panes = button.closest(".panes");
    press(button);
    panes.querySelectorAll(":scope > .pane").forEach((pane, index) => {
      pane.hidden = index !== Number(button.dataset.show);
    });
  } else if (button.dataset.overlay) {
    document.body.dataset.mode = button.dataset.overlay;
    document.querySelectorAll(`[data-overlay=${button.dataset.overlay}]`).forEach(press);
  } else if (button.classList.contains("pic")) {
    enlarge(button);
  }
});
function press(button) {
  for (const other of button.parentElement.children) other.setAttribute("aria-pressed", other === button);
}
function enlarge(button) {
  const dialog = document.getElementById("full");
  const stage = dialog.querySelector(".stage");
  stage.style.aspectRatio = button.style.aspectRatio;
  stage.style.backgroundImage = getComputedStyle(button.closest(".seen")).getPropertyValue("--photo");
  dialog.querySelector(".mask").src = button.querySelector(".mask").src;
  dialog.querySelector("p").textContent = button.dataset.label;
  dialog.showModal();
}
document.getElementById("full").addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close();
});
