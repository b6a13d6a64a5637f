/** Removes the given characters from the end. A pattern such as `/=+$/` takes quadratic time for this. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}
