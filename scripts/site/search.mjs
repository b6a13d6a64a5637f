// searchSections: the sections that contain all words, those with words in their titles first. The text of this function is part of
// the site, so it must not depend on anything else.

export function searchSections(sections, query) {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return []
  const found = []
  for (const section of sections) {
    const titles = `${section.page} ${section.title}`.toLowerCase()
    const text = section.text.toLowerCase()
    const inTitles = words.filter((word) => titles.includes(word)).length
    if (words.every((word) => titles.includes(word) || text.includes(word))) found.push({ section, inTitles })
  }
  return found
    .toSorted((a, b) => b.inTitles - a.inTitles)
    .slice(0, 30)
    .map(({ section }) => section)
}
