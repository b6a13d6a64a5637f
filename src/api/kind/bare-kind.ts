// bareKind: a kind that is known by its names only, which is enough to read, patch and delete its objects.
import { message } from '../../schema/descriptor/field.ts'
import type { Kind } from './kind.ts'

export type KindNames = Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'singular' | 'namespaced'>

export const bareKind = (names: KindNames): Kind => ({
  ...names,
  apiVersion: names.group === '' ? names.version : `${names.group}/${names.version}`,
  shortNames: [],
  categories: [],
  message: message(`${names.group}.${names.version}.${names.kind}`, {}),
  hasStatus: false,
  countsGenerations: false,
  validateName: () => [],
  applyDefaults: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
  columns: [],
  fieldLabels: {},
})
