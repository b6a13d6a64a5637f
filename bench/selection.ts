// Which benchmarks are run: those that are named, or all. Names come before the options of a benchmark.
import { didYouMean, similarNames } from '../src/base/text/similar-names.ts'

/** Throws if a name is unknown, so that a misspelt one does not run nothing. */
export function selection<T extends { readonly name: string }>(
  all: readonly T[],
  args: readonly string[],
): readonly T[] {
  const option = args.findIndex((argument) => argument.startsWith('-'))
  const wanted = option < 0 ? args : args.slice(0, option)
  const names = all.map(({ name }) => name)
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown === undefined) return wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name))
  const question = didYouMean(similarNames(unknown, names))
  throw new Error(`unknown benchmark ${JSON.stringify(unknown)}; ${question || `there are ${names.join(', ')}`}`)
}
