/** Sites whose files are all there and which are wrong nevertheless. Tokens are made up, and put together here so that no
 *  scanner takes this file for a leak. */
import { broken, both, drop, hidden, move, page, PNG, put, type Sample, SHOW, swap, TEXT, vite } from "./parts.ts";

const shown = (body: string): string => page(TEXT + body);
const random = (length: number, alphabet = "Zk3xQ9wLm2VtR7bNp5YcH8sJd4FgT6aE1uXvKiOq0rWzPyBnGhDfMlSj"): string =>
  Array.from({ length }, (_, i) => alphabet[(i * 31 + length * 7 + ((i * i) % 11)) % alphabet.length]).join("");
const upper = (length: number): string => random(length, "QZ3XK9WLM2VTR7BNP5YCH8SJD4FGT6AE");
const hex = (length: number): string => random(length, "3f9a0c7e51d8b264");
const KEY = `-----BEGIN RSA ${"PRIVATE"} KEY-----\n${Array.from({ length: 12 }, (_, i) => random(60 + (i % 2))).join("\n")}\n-----END RSA ${"PRIVATE"} KEY-----\n`;
const jwt = (claims: object): string =>
  [{ alg: "HS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".") + `.${random(43)}`;
const FORM = '<form action="contact.php" method="post"><input name="text"><button>Send</button></form>';

export const SECRETS: Record<string, string> = {
  aws: `AKIA${upper(16)}`,
  github: `ghp_${random(36)}`,
  "github fine-grained": `github_pat_${random(22)}_${random(59)}`,
  gitlab: `glpat-${random(20)}`,
  slack: `xoxb-${random(12, "3908174625")}-${random(12, "3908174625")}-${random(24)}`,
  stripe: `sk_live_${random(24)}`,
  openai: `sk-proj-${random(40)}T3BlbkFJ${random(20)}`,
  anthropic: `sk-ant-api03-${random(93)}AA`,
  sendgrid: `SG.${random(22)}.${random(43)}`,
  npm: `npm_${random(36)}`,
  google: `GOCSPX-${random(28)}`,
  digitalocean: `dop_v1_${hex(64)}`,
  shopify: `shpat_${hex(32)}`,
  huggingface: `hf_${random(34)}`,
  telegram: `${random(10, "6173945208")}:AA${random(33)}`,
  supabase: jwt({ iss: "supabase", ref: "abcd", role: "service_role", iat: 1700000000, exp: 2000000000 }),
};

export const BROKEN_CONTENT: Sample[] = [
  broken(
    "a live-reload script left in",
    "localhost_url",
    { "index.html": shown('<script src="http://localhost:35729/livereload.js"></script>') },
    swap('<script src="http://localhost:35729/livereload.js"></script>', ""),
  ),
  broken(
    "pictures of a local WordPress",
    "localhost_url",
    { "index.html": shown('<img src="http://127.0.0.1:8080/wp-content/uploads/kite.jpg" alt="">') },
    both(swap("http://127.0.0.1:8080/wp-content/uploads/kite.jpg", "kite.jpg"), put({ "kite.jpg": PNG })),
  ),
  broken(
    "an API on the author's own machine",
    "localhost_url",
    vite("/", 'fetch("http://localhost:3999/api/kites").catch(()=>{});'),
    swap("http://localhost:3999/api/kites", "https://api.kites.example/kites"),
  ),
  broken(
    "the same, kept in a constant",
    "localhost_url",
    {
      "index.html": shown('<script src="app.js"></script>'),
      "app.js":
        'const API = "http://localhost:3999/api";\nasync function load() {\n  return fetch(`${API}/kites`);\n}\nload().catch(() => {});\n',
    },
    swap("http://localhost:3999/api", "https://api.kites.example"),
  ),
  hidden(
    "a socket to the author's own machine",
    "localhost_url",
    { "index.html": shown('<script>new WebSocket("ws://localhost:3999/live");</script>') },
    swap("ws://localhost:3999/live", "wss://live.kites.example/"),
  ),
  broken(
    "an old request to the author's own machine",
    "localhost_url",
    {
      "index.html": shown(
        '<script>var x = new XMLHttpRequest(); x.open("GET", "http://0.0.0.0:3999/kites"); x.send();</script>',
      ),
    },
    swap("http://0.0.0.0:3999", "https://api.kites.example"),
  ),
  hidden(
    "a printer in the author's own network",
    "private_network_url",
    { "index.html": shown('<img src="http://192.168.1.20/camera.jpg" alt="">') },
    swap("http://192.168.1.20/camera.jpg", "https://camera.kites.example/now.jpg"),
  ),
  hidden(
    "a script over http",
    "mixed_content",
    { "index.html": shown('<script src="http://code.jquery.com/jquery-3.7.1.min.js"></script>') },
    swap("http://code", "https://code"),
  ),
  hidden(
    "fonts over http",
    "mixed_content",
    {
      "index.html": page(
        TEXT,
        '<title>Kites</title><link rel="stylesheet" href="http://fonts.googleapis.com/css?family=Lato">',
      ),
    },
    swap("http://fonts", "https://fonts"),
  ),
  hidden(
    "a font file over http",
    "mixed_content",
    {
      "index.html": page(
        TEXT,
        "<title>Kites</title><style>@font-face{font-family:K;src:url(http://cdn.example/k.woff2)}</style>",
      ),
    },
    swap("http://cdn", "https://cdn"),
  ),
  hidden(
    "a frame over http",
    "mixed_content",
    { "index.html": shown('<iframe src="http://www.youtube.com/embed/x" title="Film"></iframe>') },
    swap("http://www", "https://www"),
  ),
  hidden(
    "an API over http",
    "mixed_content",
    { "index.html": shown('<script>document.onclick = () => fetch("http://api.kites.example/now");</script>') },
    swap("http://api", "https://api"),
  ),
  hidden(
    "a contact form in PHP",
    "server_code",
    { "index.html": shown(FORM), "contact.php": '<?php mail("a@b.example", "x", $_POST["text"]);' },
    both(drop("contact.php"), swap("contact.php", "https://formspree.io/f/x")),
  ),
  hidden(
    "a site in PHP",
    "server_code",
    { "index.php": "<?php include 'header.php'; ?><h1>Kites</h1>", "header.php": "<title>Kites</title>" },
    both(drop("index.php", "header.php"), put({ "index.html": shown("") })),
  ),
  hidden(
    "an old site in ASP",
    "server_code",
    { "index.html": shown('<a href="list.asp">List</a>'), "list.asp": "<% Response.Write(1) %>" },
    both(drop("list.asp"), swap('<a href="list.asp">List</a>', "")),
  ),
  hidden(
    "a form that a Python script should answer",
    "server_code",
    {
      "index.html": shown('<form action="cgi-bin/save.py" method="post"><input name="text"></form>'),
      "cgi-bin/save.py": "print('Content-Type: text/html')",
    },
    both(drop("cgi-bin/save.py"), swap("cgi-bin/save.py", "https://formspree.io/f/x")),
  ),
  hidden(
    "an AWS key in a bundle",
    "possible_secret",
    vite("/", `const k="${SECRETS["aws"]}";`),
    swap(SECRETS["aws"]!, ""),
  ),
  hidden(
    "a Stripe secret key in a page",
    "possible_secret",
    { "index.html": shown(`<script>const stripe = "${SECRETS["stripe"]}";</script>`) },
    swap(SECRETS["stripe"]!, ""),
  ),
  hidden(
    "a GitHub token in a source map",
    "possible_secret",
    {
      ...vite("/", "\n//# sourceMappingURL=a.js.map"),
      "assets/a.js.map": JSON.stringify({
        version: 3,
        sources: [],
        sourcesContent: [`const t="${SECRETS["github"]}"`],
        mappings: "",
      }),
    },
    drop("assets/a.js.map"),
  ),
  hidden(
    "Supabase's service key in a bundle",
    "possible_secret",
    vite("/", `const k="${SECRETS["supabase"]}";`),
    swap(SECRETS["supabase"]!, ""),
  ),
  hidden(
    "a private key beside the pages",
    "possible_secret",
    { "index.html": shown(""), "deploy/server.pem": KEY },
    drop("deploy/server.pem"),
  ),
  hidden(
    "a private key in a service account",
    "possible_secret",
    { "index.html": shown(""), "firebase.json.bak": JSON.stringify({ type: "service_account", private_key: KEY }) },
    drop("firebase.json.bak"),
  ),
  hidden("the .env file of a project", "secret_file_dropped", { ...vite(), ".env": "API_KEY=1" }, drop(".env")),
  hidden(
    "a photograph of 5 MB",
    "huge_asset",
    { "index.html": shown('<img src="kite.png" alt="">'), "kite.png": new Uint8Array(5 << 20).fill(7) },
    put({ "kite.png": PNG }),
  ),
  hidden(
    "an index without a title",
    "missing_title",
    { "index.html": page(TEXT, "") },
    swap('<meta charset="utf-8">', '<meta charset="utf-8"><title>Kites</title>'),
  ),
  broken("an index with nothing in it", "missing_title", { "index.html": "" }, put({ "index.html": shown("") })),
  hidden(
    "two pages that differ in letter case",
    "case_collision",
    { "index.html": shown('<a href="a.html">A</a>'), "a.html": page("<p>a</p>"), "A.html": page("<p>A</p>") },
    drop("A.html"),
  ),
  hidden(
    "a file where the service keeps comments",
    "reserved_path",
    { "index.html": shown(""), "comments.json": "[]" },
    move("comments.json", "notes.json"),
  ),
  hidden(
    "a name that Windows cannot keep",
    "windows_unsafe_name",
    { "index.html": shown('<a href="a%3Fb.txt">Notes</a>'), "a?b.txt": SHOW },
    both(move("a?b.txt", "ab.txt"), swap("a%3Fb.txt", "ab.txt")),
  ),
];
