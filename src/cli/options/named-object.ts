// The object operand: <kind>/<name> or <kind> <name>. The kind is a singular, plural or short name, with or without its
// group.
import { didYouMean, similarNames } from '../../base/text/similar-names.ts'
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { UsageError } from '../command/command.ts'

export interface NamedObject {
  readonly kind: Kind
  readonly name: string
}

/** Empty for kinds that are not namespaced. */
export const namespaceFor = ({ namespaced }: Kind, namespace: string): string => (namespaced ? namespace : '')

export function namedObject(operands: readonly string[]): NamedObject {
  const [first = '', second] = operands
  const [kindName = '', name = second ?? '', ...rest] = first.split('/')
  const isDouble = first.includes('/') && second !== undefined
  if (kindName === '' || name === '' || name.includes('/') || rest.length > 0 || isDouble)
    throw new UsageError('name one object: <kind>/<name> or <kind> <name>, for example deployment/web')
  return { kind: kindNamed(kindName), name }
}

function kindNamed(typed: string): Kind {
  const word = typed.toLowerCase()
  const kind = kinds.find((each) => namesOf(each).includes(word))
  if (kind !== undefined) return kind
  const question = didYouMean(
    similarNames(
      word,
      kinds.flatMap(({ singular }) => singular),
    ),
  )
  throw new UsageError(`unknown kind ${JSON.stringify(typed)}; ${question || 'kubectl api-resources lists all'}`)
}

const namesOf = ({ singular, plural, shortNames, group }: Kind): readonly string[] => [
  singular,
  plural,
  ...shortNames,
  `${singular}.${group}`,
  `${plural}.${group}`,
]
