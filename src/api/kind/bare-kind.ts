// bareKind: a kind that is known by its names only, which is enough to read, patch and delete its objects.
import { message } from '../../schema/descriptor/field.ts'
import { kindFrom, type Kind } from './kind.ts'
import { messageSchema } from './object-schema.ts'

export type KindNames = Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'singular' | 'namespaced'> &
  Partial<Pick<Kind, 'shortNames'>>

export function bareKind(names: KindNames): Kind {
  const noFields = message(`${names.group}.${names.version}.${names.kind}`, {})
  return kindFrom(
    {
      shortNames: [],
      ...names,
      categories: [],
      message: noFields,
      hasStatus: false,
      countsGenerations: false,
      validateName: () => [],
      applyDefaults: (object) => object,
      validate: () => [],
      validateUpdate: () => [],
      columns: [],
      fieldLabels: {},
    },
    messageSchema(noFields),
  )
}
