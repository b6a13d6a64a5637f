// Atomic replacement of all files of a directory: they are in a subdirectory of their own, the link `..data` points to
// it, and every visible name is a link through `..data`. Replacing that link switches all files at once.

export const dataLink = '..data'

/** The first component of each path: the visible names in the directory. */
export const visibleNames = (paths: Iterable<string>): Set<string> =>
  new Set([...paths].map((path) => path.split('/')[0] ?? path))
