import { Link, useParams } from "react-router";
import { notes } from "./notes.js";

export default function Note() {
  const { id } = useParams();
  const note = notes.find((one) => one.id === id);
  return (
    <article>
      <h2>{note ? note.title : "That note is lost"}</h2>
      <p>{note?.text}</p>
      <Link to="/">All notes</Link>
    </article>
  );
}
