/** For a page that answers a form because it is shown once: from now on a reload leads to the address of its last link,
 *  and the form is not sent again (WEB 1.4). */
const link = document.querySelector<HTMLAnchorElement>("a[data-once]");
if (link) history.replaceState(null, "", link.href);
