// The object operand: <kind>/<name> or <kind> <name>. The kind is a singular, plural or short name, with or without its
// group. Kinds that are not built in are found by discovery.
import { didYouMean, similarNames } from '../../base/text/similar-names.ts'
import { context } from '../../base/observability/context.ts'
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { discover } from '../../client/discovery.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { UsageError } from '../command/command.ts'
import type { ChosenCluster } from './choose-cluster.ts'

export interface NamedObject {
  readonly kind: Kind
  readonly name: string
}

export interface ObjectOperand {
  /** As it was typed. */
  readonly kindName: string
  readonly name: string
}

/** Empty for kinds that are not namespaced. */
export const namespaceFor = ({ namespaced }: Kind, namespace: string): string => (namespaced ? namespace : '')

export function objectOperand(operands: readonly string[]): ObjectOperand {
  const [first = '', second] = operands
  const [kindName = '', name = second ?? '', ...rest] = first.split('/')
  const isDouble = first.includes('/') && second !== undefined
  if (kindName === '' || name === '' || name.includes('/') || rest.length > 0 || isDouble)
    throw new UsageError('name one object: <kind>/<name> or <kind> <name>, for example deployment/web')
  return { kindName, name }
}

/** The built-in kind of that name, or the kind that the cluster serves. */
export const kindIn = ({ kubeconfig }: ChosenCluster, kindName: string, signal: AbortSignal): Promise<Kind> =>
  kindNamed(kindName, async () => {
    await using remote = await openRemote(kubeconfig, signal)
    const { kinds: served } = await discover(remote.clientAs('coxswain'), context(signal))
    return served.filter(({ isPreferred }) => isPreferred).map(({ kind }) => kind)
  })

/** `served` is called only for a name that no built-in kind has. */
export async function kindNamed(typed: string, served: () => Promise<readonly Kind[]>): Promise<Kind> {
  const word = typed.toLowerCase()
  const isNamed = (kind: Kind) => namesOf(kind).includes(word)
  const builtIn = kinds.find(isNamed)
  if (builtIn !== undefined) return builtIn
  const others = await served()
  const found = others.find(isNamed)
  if (found !== undefined) return found
  const known = new Set([...kinds, ...others].map(({ singular }) => singular))
  const question = didYouMean(similarNames(word, [...known]))
  throw new UsageError(`unknown kind ${JSON.stringify(typed)}; ${question || 'kubectl api-resources lists all'}`)
}

const namesOf = ({ kind, singular, plural, shortNames, group }: Kind): readonly string[] => [
  singular,
  plural,
  kind.toLowerCase(),
  ...shortNames,
  `${singular}.${group}`,
  `${plural}.${group}`,
]

const distinctNames = (names: readonly string[]): readonly string[] =>
  [...new Set(names)].filter((name) => name !== '').toSorted()

/** The names of the built-in kinds, which shells propose. */
export const singularNames = (): readonly string[] => distinctNames(kinds.map(({ singular }) => singular))
export const pluralNames = (): readonly string[] => distinctNames(kinds.map(({ plural }) => plural))
