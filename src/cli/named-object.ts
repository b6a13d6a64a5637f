// <kind>/<name> as people type it: by singular, plural or short name.
import { kinds } from '../api/kinds.ts'
import type { Kind } from '../api/kind.ts'
import { UsageError } from './command.ts'

export interface NamedObject {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

export function namedObject(operand: string | undefined, namespace = 'default'): NamedObject {
  const [kindName = '', name = ''] = (operand ?? '').split('/')
  if (name === '') throw new UsageError('name an object as <kind>/<name>, such as deployment/web')
  const word = kindName.toLowerCase()
  const kind = kinds.find(({ singular, plural, shortNames }) => [singular, plural, ...shortNames].includes(word))
  if (kind === undefined) throw new UsageError(`there is no kind ${JSON.stringify(kindName)}`)
  return { kind, namespace: kind.namespaced ? namespace : '', name }
}
