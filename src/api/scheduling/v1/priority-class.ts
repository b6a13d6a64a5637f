// PriorityClass: a named priority of pods.
import { lookup } from '../../../base/collections/lookup.ts'
import { bool, int32, message, string } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { forbidden, immutable, type FieldError } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const priorityClassMessage = message(
  'io.k8s.api.scheduling.v1.PriorityClass',
  {
    metadata: objectMetaField,
    value: int32(2, {
      keepEmpty: true,
      default: 0,
      description: 'The priority, 0 by default; higher numbers are scheduled first.',
    }),
    globalDefault: bool(3, { description: 'The default class of pods without one.' }),
    description: string(4, { description: 'When to use the class.' }),
    preemptionPolicy: string(5, {
      pointer: true,
      notEmpty: true,
      default: 'PreemptLowerPriority',
      enum: ['PreemptLowerPriority', 'Never'],
      description: 'Whether its pods may preempt pods of lower priority: PreemptLowerPriority (the default) or Never.',
    }),
  },
  'The priority of pods.',
)
export interface PriorityClass extends ObjectOf<typeof priorityClassMessage> {}
export type PriorityClassInput = InputOf<typeof priorityClassMessage>

export const priorityClass = defineKind<PriorityClass, PriorityClassInput>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  categories: [],
  namespaced: false,
  message: priorityClassMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: validatePriority,
  validateUpdate(object, old) {
    const errors: FieldError[] = []
    if (object.value !== old.value) errors.push(forbidden('value', 'may not be changed in an update.'))
    if (object.preemptionPolicy !== old.preemptionPolicy)
      errors.push(immutable('preemptionPolicy', object.preemptionPolicy))
    return errors
  },
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Value', ({ value }) => value, { type: 'integer' }),
    column('Global-Default', ({ globalDefault }) => globalDefault ?? false, { type: 'boolean' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('PreemptionPolicy', ({ preemptionPolicy }) => preemptionPolicy ?? ''),
  ],
  fieldLabels: {},
})

const userValueMax = 1_000_000_000
const systemPrefix = 'system-'
const systemValues: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
}

function validatePriority({ metadata, value, globalDefault }: PriorityClass): FieldError[] {
  const name = metadata.name ?? ''
  if (!name.startsWith(systemPrefix))
    return value > userValueMax
      ? [forbidden('value', `maximum allowed value of a user defined priority is ${userValueMax}`)]
      : []
  const why = systemClassError(name, value, globalDefault ?? false)
  return why === undefined
    ? []
    : [
        forbidden(
          'metadata.name',
          `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${why}`,
        ),
      ]
}

function systemClassError(name: string, value: number, globalDefault: boolean): string | undefined {
  const known = lookup(systemValues, name)
  if (known === undefined) return `${name} is not a known system priority class`
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}
