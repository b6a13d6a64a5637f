// Which benchmarks are run: those that are named, or all.
import { didYouMean, similarNames } from '../src/base/text/similar-names.ts'

/** Throws if a name is unknown, so that a misspelt one does not run nothing. */
export function selection<T extends { readonly name: string }>(
  all: readonly T[],
  wanted: readonly string[],
): readonly T[] {
  const names = all.map(({ name }) => name)
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown === undefined) return wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name))
  const question = didYouMean(similarNames(unknown, names))
  throw new Error(`unknown benchmark ${JSON.stringify(unknown)}; ${question || `there are ${names.join(', ')}`}`)
}
