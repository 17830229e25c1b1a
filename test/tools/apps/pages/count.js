const words = document.body.innerText.split(/\s+/).length;
document.body.append(Object.assign(document.createElement("footer"), { textContent: `${words} words` }));
