// How files are replaced all at once: they lie in a folder named after the time, a link `..data` leads to it, and every
// visible name is a link through `..data`. Moving that one link changes everything in one step.

export const dataLink = '..data'

/** The first part of each path: the names that a reader of the folder sees. */
export const visibleNames = (paths: Iterable<string>): Set<string> =>
  new Set([...paths].map((path) => path.split('/')[0] ?? path))
