// checkObjectType: whether a body is an object of its kind. Custom objects name their type; others may leave it out.
import type { Kind } from '../../api/kind/kind.ts'
import { badRequest, invalidObject, type StatusError } from '../../api/errors/status-error.ts'
import { isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'
import { invalid } from '../../schema/validation/field-error.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

/** `isPatched`: the body is the current object with a patch. */
export function checkObjectType(kind: Kind, body: JsonObject, isPatched = false): void {
  if (kind.custom === undefined) return checkBuiltIn(kind, body)
  const { apiVersion = '', kind: name = '' } = body
  if (name === '' || name === null)
    throw unrecognized(kind, body, `Object 'Kind' is missing in '${JSON.stringify(body)}'`)
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2)
    throw unrecognized(kind, body, `unexpected GroupVersion string: ${apiVersion}`)
  if (apiVersion !== kind.apiVersion)
    throw isPatched
      ? mustBe(kind, body, {
          kindName: kind.kind,
          field: 'apiVersion',
          sent: String(apiVersion),
          wanted: kind.apiVersion,
        })
      : otherVersion(String(apiVersion ?? ''), kind)
  if (name !== kind.kind)
    throw mustBe(kind, body, { kindName: String(name), field: 'kind', sent: String(name), wanted: kind.kind })
}

function checkBuiltIn(kind: Kind, { apiVersion = '', kind: name = '' }: JsonObject): void {
  if (apiVersion !== '' && apiVersion !== kind.apiVersion) throw otherVersion(String(apiVersion), kind)
  if (name !== '' && name !== kind.kind)
    throw badRequest(`the kind in the data (${String(name)}) does not match the expected kind (${kind.kind})`)
}

const otherVersion = (sent: string, { apiVersion }: Kind): StatusError =>
  badRequest(`the API version in the data (${sent}) does not match the expected API version (${apiVersion})`)

interface WrongType {
  readonly kindName: string
  readonly field: string
  readonly sent: string
  readonly wanted: string
}

function mustBe({ group }: Kind, body: JsonObject, { kindName, field, sent, wanted }: WrongType): StatusError {
  const { metadata } = body
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : ''
  return invalidObject(group, kindName, name, [invalid(field, sent, `must be ${wanted}`)])
}

const shownCharsMax = 30

/** The beginning of the body helps to find the client that sent it. */
function unrecognized({ kind }: Kind, body: JsonObject, why: string): StatusError {
  const text = jsonText(body)
  const shown = text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)} ...` : text
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${shown})`)
}
