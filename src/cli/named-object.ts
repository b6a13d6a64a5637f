// <kind>/<name> as people type it: by singular, plural or short name, with or without the group.
import { kinds } from '../api/kinds.ts'
import type { Kind } from '../api/kind.ts'
import { UsageError } from './command.ts'

export interface NamedObject {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

export function namedObject(operand: string | undefined, namespace = 'default'): NamedObject {
  const [kindName = '', name = '', ...rest] = (operand ?? '').split('/')
  if (name === '' || rest.length > 0) throw new UsageError('name an object as <kind>/<name>, such as deployment/web')
  const word = kindName.toLowerCase()
  const kind = kinds.find(({ singular, plural, shortNames, group }) =>
    [singular, plural, ...shortNames, `${singular}.${group}`, `${plural}.${group}`].includes(word),
  )
  if (kind === undefined)
    throw new UsageError(`there is no kind ${JSON.stringify(kindName)}; kubectl api-resources lists them`)
  return { kind, namespace: kind.namespaced ? namespace : '', name }
}
