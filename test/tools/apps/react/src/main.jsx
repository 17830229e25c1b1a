import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter, Link, Route, Routes } from "react-router";
import { notes } from "./notes.js";
import "./style.css";

// A chunk of its own: a deep link has to find it from another path than `/`.
const Note = lazy(() => import("./note.jsx"));

const Contents = () => (
  <ul>
    {notes.map(({ id, title }) => (
      <li key={id}>
        <Link to={`/notes/${id}`}>{title}</Link>
      </li>
    ))}
  </ul>
);

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <BrowserRouter>
      <h1>Notebook</h1>
      <Suspense fallback={<p>Opening…</p>}>
        <Routes>
          <Route path="/" element={<Contents />} />
          <Route path="/notes/:id" element={<Note />} />
          <Route path="*" element={<p>No such page in this notebook</p>} />
        </Routes>
      </Suspense>
    </BrowserRouter>
  </StrictMode>,
);
