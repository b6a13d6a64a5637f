// ControllerRevision: a stored version of the template of a DaemonSet or StatefulSet, for rollbacks.
import { int64, rawExtension, message } from '../../../schema/descriptor/field.ts'
import { controllerOf, type InputOf, type ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable, required } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const controllerRevisionMessage = message(
  'io.k8s.api.apps.v1.ControllerRevision',
  {
    metadata: objectMetaField,
    data: rawExtension(2, { description: 'The data of the revision.' }),
    revision: int64(3, {
      required: true,
      minimum: 0,
      description: 'The revision number; later revisions have higher numbers.',
    }),
  },
  'An old revision of a DaemonSet or StatefulSet, retained for rollbacks.',
)
export interface ControllerRevision extends ObjectOf<typeof controllerRevisionMessage> {}
export type ControllerRevisionInput = InputOf<typeof controllerRevisionMessage>

export const controllerRevision = defineKind<ControllerRevision, ControllerRevisionInput>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: controllerRevisionMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ data }) => (data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
  validateUpdate: (object, old) => (equalValues(object.data, old.data) ? [] : [immutable('data', object.data)]),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Controller', controllerText),
    column('Revision', ({ revision }) => revision),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

/** `statefulset.apps/db` */
function controllerText(object: ControllerRevision): string {
  const owner = controllerOf(object)
  if (owner === undefined) return '<none>'
  const [group] = owner.apiVersion.split('/').slice(0, -1)
  return `${[owner.kind, ...(group === undefined ? [] : [group])].join('.').toLowerCase()}/${owner.name}`
}
