// The page works without this: it only fills in what a static file cannot know, and copies commands.
document.querySelector("#host").textContent = location.host;

const version = document.querySelector('meta[name="svc:version"]');
if (version) document.querySelector("#version").textContent = version.content;

for (const command of navigator.clipboard ? document.querySelectorAll("pre code") : []) {
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(command.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  command.after(button);
}
