// WriteOptions: the query of a write: the field manager, force, and the validation of unknown fields.
import { append } from '../../base/collections/append.ts'
import { fieldManagerErrors } from '../../api/meta/field-manager.ts'
import { invalidObject } from '../../api/errors/status-error.ts'
import { forbidden, notSupported, required, type FieldError } from '../../schema/validation/field-error.ts'
import { booleanParameter } from './query-values.ts'
import type { Verb, ResourceRequest } from './request.ts'
import { dryRunErrors } from './list-options.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

export interface WriteOptions {
  readonly manager: string
  readonly force: boolean
  readonly fieldValidation: FieldValidation
}

export const writeOptionsOf = ({ query, agent }: ResourceRequest): WriteOptions =>
  query.size === 0
    ? { manager: agent || 'unknown', force: false, fieldValidation: 'Warn' }
    : {
        manager: query.get('fieldManager') || agent || 'unknown',
        force: booleanParameter(query, 'force'),
        fieldValidation: (query.get('fieldValidation') || 'Warn') as FieldValidation, // checkWriteOptions() has validated it
      }

/** The names of the option types in errors. */
const optionKinds: Partial<Record<Verb, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
}

const fieldValidations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn']

/** Rejects invalid options, before the request does anything. */
export function checkWriteOptions({ query, target, body }: ResourceRequest): void {
  const kind = optionKinds[target.verb]
  if (kind === undefined) return
  const isApply = body.kind === 'value' && body.patchType === 'apply'
  if (query.size === 0 && !isApply) return
  const manager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  const errors: FieldError[] = []
  if (isApply && manager === '') errors.push(required('fieldManager', 'is required for apply patch'))
  if (target.verb === 'patch' && !isApply && query.has('force'))
    errors.push(forbidden('force', 'may not be specified for non-apply patch'))
  append(errors, [...fieldManagerErrors(manager, 'fieldManager'), ...dryRunErrors(query.getAll('dryRun'))])
  if (!fieldValidations.includes(fieldValidation))
    errors.push(notSupported('fieldValidation', fieldValidation, fieldValidations))
  if (errors.length > 0) throw invalidObject('meta.k8s.io', kind, '', errors)
}
