/** The Content-Type of a file, from its name and, where a name is not enough, its bytes (RELIABILITY, H45); and what a
 *  browser does with an answer of that type, which the scan of a deploy and the headers of serving ask. */
import { isUtf8 } from "node:buffer";

/** Type → extensions, in lower case. */
export const MEDIA_TYPES: Record<string, string> = {
  // Pages and what they load
  "text/html": "html htm shtml",
  "application/xhtml+xml": "xhtml xht",
  "text/css": "css",
  "text/javascript": "js mjs cjs",
  "application/json": "json map har topojson",
  "application/ld+json": "jsonld",
  "application/json5": "json5",
  "application/manifest+json": "webmanifest",
  "application/importmap+json": "importmap",
  "application/wasm": "wasm",
  "text/x-component": "htc",
  "text/cache-manifest": "appcache",
  // Text
  "text/plain":
    "txt text log conf cfg ini properties toml lock diff patch srt sbv nfo asc sh bash zsh fish bat cmd ps1 py rb php pl lua go rs c h cc cpp cxx hpp java kt kts swift scala cs fs hs ex exs erl clj r jl m sql tsx jsx ts mts cts vue svelte astro scss sass less styl pug tex bib cls sty gradle cmake dockerfile makefile",
  "text/markdown": "md markdown mkd mdx",
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
  "text/yaml": "yaml yml",
  "text/calendar": "ics ifb",
  "text/vcard": "vcf vcard",
  "text/vtt": "vtt",
  "text/x-rst": "rst",
  "text/vnd.graphviz": "gv dot",
  "application/x-ndjson": "ndjson jsonl",
  "application/graphql": "graphql gql",
  // XML
  "application/xml": "xml xsd rng",
  "application/xslt+xml": "xsl xslt",
  "application/xml-dtd": "dtd",
  "application/rss+xml": "rss",
  "application/atom+xml": "atom",
  "application/mathml+xml": "mathml mml",
  "application/smil+xml": "smil smi",
  "application/dash+xml": "mpd",
  "application/opensearchdescription+xml": "osdx",
  "application/xspf+xml": "xspf",
  "application/ttml+xml": "ttml dfxp",
  "application/rdf+xml": "rdf owl",
  "text/turtle": "ttl",
  "text/n3": "n3",
  "application/n-triples": "nt",
  // Maps
  "application/geo+json": "geojson",
  "application/gpx+xml": "gpx",
  "application/vnd.google-earth.kml+xml": "kml",
  "application/vnd.google-earth.kmz": "kmz",
  "application/vnd.mapbox-vector-tile": "mvt",
  "application/x-protobuf": "pbf",
  // Images
  "image/svg+xml": "svg",
  "image/png": "png",
  "image/apng": "apng",
  "image/jpeg": "jpg jpeg jpe jfif pjpeg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "avif",
  "image/jxl": "jxl",
  "image/heic": "heic",
  "image/heif": "heif",
  "image/jp2": "jp2 jpg2",
  "image/bmp": "bmp dib",
  "image/tiff": "tif tiff",
  "image/x-icon": "ico cur",
  "image/vnd.adobe.photoshop": "psd",
  "image/ktx": "ktx",
  "image/ktx2": "ktx2",
  "image/vnd-ms.dds": "dds",
  "image/vnd.radiance": "hdr",
  "image/x-exr": "exr",
  "image/x-portable-pixmap": "ppm",
  "image/x-tga": "tga",
  // Sound
  "audio/mpeg": "mp3 mp2 mpga",
  "audio/mp4": "m4a m4b",
  "audio/aac": "aac",
  "audio/ogg": "ogg oga opus spx",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/webm": "weba",
  "audio/midi": "mid midi kar",
  "audio/aiff": "aif aiff aifc",
  "audio/amr": "amr",
  "audio/x-caf": "caf",
  "audio/mpegurl": "m3u",
  // Video
  "video/mp4": "mp4 m4v mp4v m4s cmfv",
  "video/webm": "webm",
  "video/ogg": "ogv",
  "video/quicktime": "mov qt",
  "video/mpeg": "mpeg mpg mpe m1v m2v",
  "video/mp2t": "m2ts",
  "video/x-msvideo": "avi",
  "video/x-matroska": "mkv",
  "video/x-ms-wmv": "wmv",
  "video/x-flv": "flv",
  "video/3gpp": "3gp 3gpp",
  "video/3gpp2": "3g2",
  "application/vnd.apple.mpegurl": "m3u8",
  // Fonts
  "font/woff2": "woff2",
  "font/woff": "woff",
  "font/ttf": "ttf",
  "font/otf": "otf",
  "font/collection": "ttc otc",
  "application/vnd.ms-fontobject": "eot",
  // 3D
  "model/gltf+json": "gltf",
  "model/gltf-binary": "glb",
  "model/stl": "stl",
  "model/obj": "obj",
  "model/mtl": "mtl",
  "model/3mf": "3mf",
  "model/vnd.usdz+zip": "usdz",
  "model/vnd.usda": "usda",
  "model/vnd.collada+xml": "dae",
  // Documents
  "application/pdf": "pdf",
  "application/epub+zip": "epub",
  "application/rtf": "rtf",
  "application/postscript": "ps eps ai",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "application/vnd.ms-powerpoint": "ppt",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
  "application/vnd.oasis.opendocument.text": "odt",
  "application/vnd.oasis.opendocument.spreadsheet": "ods",
  "application/vnd.oasis.opendocument.presentation": "odp",
  "application/vnd.oasis.opendocument.graphics": "odg",
  // Archives and programs
  "application/zip": "zip",
  "application/gzip": "gz tgz",
  "application/zstd": "zst",
  "application/x-bzip2": "bz2",
  "application/x-xz": "xz",
  "application/x-tar": "tar",
  "application/x-7z-compressed": "7z",
  "application/vnd.rar": "rar",
  "application/java-archive": "jar",
  "application/vnd.android.package-archive": "apk",
  "application/x-apple-diskimage": "dmg",
  "application/vnd.debian.binary-package": "deb",
  "application/x-rpm": "rpm",
  "application/x-xpinstall": "xpi",
  "application/x-chrome-extension": "crx",
  // Data and the rest
  "application/vnd.sqlite3": "sqlite sqlite3",
  "application/vnd.apache.parquet": "parquet",
  "application/vnd.apache.arrow.file": "arrow feather",
  "application/x-ipynb+json": "ipynb",
  "application/x-bittorrent": "torrent",
  "application/x-x509-ca-cert": "crt cer der",
  "application/x-pem-file": "pem",
  "application/pgp-signature": "sig",
  "application/vnd.apple.pkpass": "pkpass",
  "application/x-shockwave-flash": "swf",
  "application/x-web-app-manifest+json": "webapp",
};

const BY_EXTENSION = new Map(
  Object.entries(MEDIA_TYPES).flatMap(([type, extensions]) =>
    extensions.split(" ").map((extension) => [extension, type] as const),
  ),
);

/** Names without an extension that a program asks for by type. */
const BY_NAME = new Map([["apple-app-site-association", "application/json"]]);

/** Types whose text needs its encoding named. */
const TEXTUAL = /^text\/|[/+](?:json5?|xml|xml-dtd|graphql|x-ndjson|n-triples|importmap)(?:$|\+)|mpegurl$/;

function typeOf(path: string, bytes: Uint8Array): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  const type = dot < 0 ? BY_NAME.get(name) : BY_EXTENSION.get(name.slice(dot + 1));
  // `.ts` is TypeScript to a programmer and a piece of a video to a player; only the former is text.
  if (type === "text/plain" && /\.m?ts$/.test(name) && !isUtf8(bytes)) return "video/mp2t";
  return type ?? "application/octet-stream";
}

/** The whole Content-Type. Text that is not valid UTF-8 goes out without charset, so that its own mark, its meta or the
 *  page that loads it counts. */
export function mediaType(path: string, bytes: Uint8Array): string {
  const type = typeOf(path, bytes);
  return TEXTUAL.test(type) && isUtf8(bytes) ? `${type}; charset=utf-8` : type;
}

export const isHtml = (media_type: string): boolean => /^text\/html(?:;|$)/i.test(media_type);

/** A style sheet of XSLT is shown as XML, too. */
export const isXml = (media_type: string): boolean => /[/+]xml(?:;|$)|xslt/i.test(media_type);

/** Whether it may be shown as a page with forms and scripts: HTML, XHTML, SVG, and any XML, for it can hold XHTML. */
export const isMarkup = (media_type: string): boolean => isHtml(media_type) || isXml(media_type);
