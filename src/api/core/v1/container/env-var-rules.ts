// Rules of a container's environment: its variables and the sources of their values.
import { append } from '../../../../base/collections/append.ts'
import { invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { configKeyErrors } from '../../../validation/config-key.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../../../validation/names.ts'
import { validateFieldRef, validateResourceFieldRef } from './downward-api-rules.ts'
import type { EnvFromSource, EnvVar, EnvVarSource, FileKeySelector } from './env-var.ts'
import { validateFilePath } from '../../../validation/local-path-rules.ts'

const printable = /^[ -<>-~]+$/

/** Any printable characters except `=`; the name need not be a shell identifier. */
const variableNameErrors = (name: string): string[] =>
  printable.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]

export const validateEnv = (variables: readonly EnvVar[], path: string): FieldError[] =>
  variables.flatMap((variable, index) => {
    const at = `${path}[${index}]`
    const errors = variable.name
      ? variableNameErrors(variable.name).map((detail) => invalid(`${at}.name`, variable.name, detail))
      : [required(`${at}.name`)]
    if (variable.valueFrom === undefined) return errors
    return [...errors, ...validateValueFrom(variable.valueFrom, variable.value ?? '', `${at}.valueFrom`)]
  })

/** The rules of each source by name. A variable has either a value or exactly one source. */
const sourceRules: {
  readonly [Name in keyof EnvVarSource]-?: (source: NonNullable<EnvVarSource[Name]>, path: string) => FieldError[]
} = {
  fieldRef: (source, path) => validateFieldRef(source, 'environment', path),
  resourceFieldRef: (source, path) => validateResourceFieldRef(source, 'environment', path),
  configMapKeyRef: (source, path) => validateKeyRef(source, path),
  secretKeyRef: (source, path) => validateKeyRef(source, path),
  fileKeyRef: (source, path) => validateFileKeyRef(source, path),
}

const sourceNames = Object.keys(sourceRules) as (keyof EnvVarSource)[]

function validateValueFrom(source: EnvVarSource, value: string, path: string): FieldError[] {
  const chosen = sourceNames.filter((name) => source[name] !== undefined)
  return [
    ...chosen.flatMap((name) =>
      (sourceRules[name] as (part: unknown, at: string) => FieldError[])(source[name], `${path}.${name}`),
    ),
    ...choiceErrors(chosen.length, value).map((detail) => invalid(path, '', detail)),
  ]
}

function choiceErrors(count: number, value: string): string[] {
  if (count === 0) {
    const [last, ...others] = sourceNames.map((name) => `\`${name}\``).toReversed()
    return [`must specify one of: ${others.toReversed().join(', ')} or ${last}`]
  }
  if (value !== '') return ['may not be specified when `value` is not empty']
  return count === 1 ? [] : ['may not have more than one field specified at a time']
}

interface KeyRef {
  readonly name?: string
  readonly key: string
}

const validateKeyRef = ({ name = '', key }: KeyRef, path: string): FieldError[] => [
  ...dnsSubdomainErrors(name).map((detail) => invalid(`${path}.name`, name, detail)),
  ...(key ? configKeyErrors(key).map((detail) => invalid(`${path}.key`, key, detail)) : [required(`${path}.key`)]),
]

const validateFileKeyRef = ({ volumeName, path: file, key }: FileKeySelector, path: string): FieldError[] => [
  ...(key ? variableNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail)) : [required(`${path}.key`)]),
  ...(volumeName
    ? dnsLabelErrors(volumeName).map((detail) => invalid(`${path}.volumeName`, volumeName, detail))
    : [required(`${path}.volumeName`)]),
  ...(file ? validateFilePath(file, `${path}.path`) : [required(`${path}.path`)]),
]

export const validateEnvFrom = (sources: readonly EnvFromSource[], path: string): FieldError[] =>
  sources.flatMap(({ prefix = '', configMapRef, secretRef }, index) => {
    const at = `${path}[${index}]`
    const errors =
      prefix === '' ? [] : variableNameErrors(prefix).map((detail) => invalid(`${at}.prefix`, prefix, detail))
    if (configMapRef !== undefined) append(errors, validateReference(configMapRef.name, `${at}.configMapRef.name`))
    if (secretRef !== undefined) append(errors, validateReference(secretRef.name, `${at}.secretRef.name`))
    if (configMapRef === undefined && secretRef === undefined)
      errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    if (configMapRef !== undefined && secretRef !== undefined)
      errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
    return errors
  })

const validateReference = (name: string | undefined, path: string): FieldError[] =>
  name ? dnsSubdomainErrors(name).map((detail) => invalid(path, name, detail)) : [required(path)]
