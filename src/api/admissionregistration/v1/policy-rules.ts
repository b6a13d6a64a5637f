// Rules that validating and mutating policies and their bindings share: parameters, variables and their columns.
import { append } from '../../../base/collections/append.ts'
import type { Environment } from '../../../cel/environment/environment.ts'
import { dynType } from '../../../cel/types/cel-type.ts'
import { VariableTypes, withVariables } from '../../expressions/admission-environment.ts'
import { compileExpression } from '../../expressions/compile-expression.ts'
import { forbidden, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import { dns1035LabelErrors, dnsSubdomainErrors, pathSegmentErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { validateMatchResources } from './match-resources-rules.ts'
import type { MatchResources } from './match-resources.ts'
import type { ParamKind, ParamRef, Variable } from './policy-params.ts'

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/
/** Reserved words of the expression language, which cannot be names of variables. */
const reservedWords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

export function validateParamKind(paramKind: ParamKind | undefined): FieldError[] {
  if (paramKind === undefined) return []
  const path = 'spec.paramKind'
  const { apiVersion = '', kind = '' } = paramKind
  const errors = validateApiVersion(apiVersion, `${path}.apiVersion`)
  const details = dns1035LabelErrors(kind.toLowerCase())
  if (kind === '') errors.push(required(`${path}.kind`))
  else if (details.length > 0)
    errors.push(invalid(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${details.join(',')}`))
  return errors
}

function validateApiVersion(apiVersion: string, path: string): FieldError[] {
  if (apiVersion === '') return [required(path)]
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const [version = '', group = ''] = parts.toReversed()
  const groupDetails = group === '' ? [] : dnsSubdomainErrors(group)
  const errors = groupDetails.length > 0 ? [invalid(path, group, groupDetails.join(','))] : []
  if (version === '') return [...errors, invalid(path, apiVersion, 'version must be specified')]
  const details = dns1035LabelErrors(version)
  return details.length > 0 ? [...errors, invalid(path, version, details.join(','))] : errors
}

/** Returns the errors of the variables, and their types for the expressions that use them. */
export function validateVariables(
  variables: readonly Variable[],
  environment: Environment,
): { readonly errors: readonly FieldError[]; readonly types: VariableTypes } {
  const errors: FieldError[] = []
  const types = new VariableTypes()
  for (const [index, { name, expression }] of variables.entries()) {
    const path = `spec.variables[${index}]`
    if (name.trim() === '') errors.push(required(`${path}.name`, 'name is not specified'))
    else if (!identifier.test(name) || reservedWords.has(name))
      errors.push(invalid(`${path}.name`, name, 'must be a valid CEL identifier'))
    const text = expression.trim()
    const result = text === '' ? undefined : compileExpression(text, withVariables(environment, types))
    if (result === undefined) errors.push(required(`${path}.expression`, 'expression is not specified'))
    else if (result.kind === 'wrong') errors.push(invalid(`${path}.expression`, text, result.message))
    types.set(name, result?.kind === 'program' ? result.program.type : dynType)
  }
  return { errors, types }
}

interface PolicyBindingSpec {
  readonly policyName?: string
  readonly paramRef?: ParamRef
  readonly matchResources?: MatchResources
}

export function validatePolicyBinding({ policyName = '', paramRef, matchResources }: PolicyBindingSpec): FieldError[] {
  const path = 'spec.policyName'
  return [
    ...(policyName === ''
      ? [required(path)]
      : dnsSubdomainErrors(policyName).map((detail) => invalid(path, policyName, detail))),
    ...(paramRef === undefined ? [] : validateParamRef(paramRef, 'spec.paramRef')),
    ...(matchResources === undefined ? [] : validateMatchResources(matchResources, 'spec.matchResources')),
  ]
}

function validateParamRef({ name = '', selector, parameterNotFoundAction = '' }: ParamRef, path: string): FieldError[] {
  const both = name !== '' && selector !== undefined
  const exclusive = 'name and selector are mutually exclusive'
  const errors = pathSegmentErrors(name).map((detail) => invalid(`${path}.name`, name, detail))
  if (both) errors.push(forbidden(`${path}.name`, exclusive))
  if (selector !== undefined) append(errors, validateLabelSelector(selector, `${path}.selector`))
  if (both) errors.push(forbidden(`${path}.selector`, exclusive))
  if (name === '' && selector === undefined) errors.push(required(path, 'one of name or selector must be specified'))
  const actions = ['Deny', 'Allow']
  if (parameterNotFoundAction === '') errors.push(required(`${path}.parameterNotFoundAction`))
  else if (!actions.includes(parameterNotFoundAction))
    errors.push(notSupported(`${path}.parameterNotFoundAction`, parameterNotFoundAction, actions))
  return errors
}

export const paramKindText = (paramKind: ParamKind | undefined): string =>
  paramKind === undefined ? '<unset>' : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`

/** Whether the parameter kind is namespaced is not known here: without a namespace the parameter may be in any. */
export function paramRefText(paramRef: ParamRef | undefined): string {
  const { name = '', namespace = '*', selector } = paramRef ?? {}
  if (name !== '') return `${namespace}/${name}`
  return selector === undefined ? '<unset>' : selectorText(selector)
}
