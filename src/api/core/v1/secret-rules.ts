// Rules of a Secret: stringData is stored as data, and each type has required keys.
import { lookup } from '../../../base/collections/lookup.ts'
import { withoutTrailing } from '../../../base/text/without-trailing.ts'
import {
  forbidden,
  immutable,
  invalid,
  required,
  tooLong,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { equalValues, isJsonObject, jsonKind } from '../../../schema/json/json-value.ts'
import { configKeyErrors } from '../../validation/config-key.ts'
import type { ObjectMeta } from '../../meta/v1/object-meta.ts'

export const accountNameAnnotation = 'kubernetes.io/service-account.name'

const dataBytesMax = 1 << 20

type Data = Readonly<Record<string, string>>

interface SecretFields {
  readonly metadata: ObjectMeta
  readonly type: string
  readonly data?: Data
  readonly immutable?: boolean
}

export function encodedStrings(stringData: Data): Data {
  const encoder = new TextEncoder()
  return Object.fromEntries(
    Object.entries(stringData).map(([name, text]) => [name, encoder.encode(text).toBase64()] as const),
  )
}

export function validateSecret({ metadata, type, data = {} }: SecretFields): FieldError[] {
  const errors = Object.keys(data).flatMap((name) =>
    configKeyErrors(name).map((detail) => invalid(`data[${name}]`, name, detail)),
  )
  if (Object.values(data).reduce((sum, text) => sum + bytesIn(text), 0) > dataBytesMax)
    errors.push(tooLong('data', dataBytesMax))
  const missing = (...names: string[]) =>
    names.filter((name) => !Object.hasOwn(data, name)).map((name) => required(`data[${name}]`))
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[accountNameAnnotation]
        ? errors
        : [...errors, required(`metadata.annotations[${accountNameAnnotation}]`)]
    case 'kubernetes.io/dockercfg':
      return [...errors, ...validateJson(data, '.dockercfg')]
    case 'kubernetes.io/dockerconfigjson':
      return [...errors, ...validateJson(data, '.dockerconfigjson')]
    case 'kubernetes.io/basic-auth':
      return 'username' in data || 'password' in data ? errors : [...errors, ...missing('username', 'password')]
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? errors : [...errors, required('data[ssh-privatekey]')]
    case 'kubernetes.io/tls':
      return [...errors, ...missing('tls.crt', 'tls.key')]
    default:
      return errors
  }
}

const bytesIn = (base64: string): number => Math.floor((withoutTrailing(base64, '=').length * 3) / 4)

function validateJson(data: Data, name: string): FieldError[] {
  const text = lookup(data, name)
  if (text === undefined) return [required(`data[${name}]`)]
  const content = new TextDecoder().decode(Uint8Array.fromBase64(text))
  try {
    const value: unknown = JSON.parse(content)
    if (isJsonObject(value) || value === null) return []
    const detail = `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`
    return [invalid(`data[${name}]`, redacted, detail)]
  } catch {
    return [invalid(`data[${name}]`, redacted, syntaxDetail(content.trimStart()))]
  }
}

const syntaxDetail = (content: string): string =>
  content === '' ? 'unexpected end of JSON input' : `invalid character '${content[0]}' looking for beginning of value`

const redacted = '<secret contents redacted>'

export function validateSecretUpdate(object: SecretFields, old: SecretFields): FieldError[] {
  const errors = object.type === old.type ? [] : [immutable('type', object.type)]
  if (old.immutable !== true) return errors
  const detail = 'field is immutable when `immutable` is set'
  if (object.immutable !== true) errors.push(forbidden('immutable', detail))
  if (!equalValues(object.data, old.data)) errors.push(forbidden('data', detail))
  return errors
}
