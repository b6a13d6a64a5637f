// The error message for an object that does not exist, with a suggestion.
import { didYouMean, similarNames } from '../base/text/similar-names.ts'
import type { Kind } from '../api/kind/kind.ts'

export interface ObjectName {
  /** Empty for kinds that are not namespaced. */
  readonly namespace: string
  readonly name: string
}

/** `found` is the problem: `not found`. `known` are the names of the objects of the kind. */
export function missingObjectText(
  kind: Kind,
  { namespace, name }: ObjectName,
  known: readonly ObjectName[],
  found = 'not found',
): string {
  const where = namespace === '' ? '' : ` in namespace ${JSON.stringify(namespace)}`
  const sentence = `${kind.singular} ${JSON.stringify(name)} ${found}${where}`
  const elsewhere = known.find((each) => each.name === name && each.namespace !== namespace)
  if (elsewhere !== undefined) return `${sentence}; there is one in namespace ${JSON.stringify(elsewhere.namespace)}`
  const names = known.filter((each) => each.namespace === namespace).map((each) => each.name)
  const question = didYouMean(similarNames(name, names))
  return question === '' ? sentence : `${sentence}; ${question}`
}
