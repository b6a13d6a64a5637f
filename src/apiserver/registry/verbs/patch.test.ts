// Patches that cannot be read, or whose result is not an object of its kind.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../../server.harness.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const types = {
  apply: 'application/apply-patch+yaml',
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

async function patch(type: keyof typeof types, text: string, query = '') {
  await using server = await startServer()
  await server.call('POST', configMaps, { metadata: { name: 'a' }, data: { a: 'x' } })
  return server.call('PATCH', `${configMaps}/a?fieldManager=m${query}`, text, { 'content-type': types[type] })
}

const unreadable: [type: keyof typeof types, text: string, message: string][] = [
  ['merge', '{', 'error decoding patch: unexpected end of JSON input'],
  ['merge', '', 'error decoding patch: unexpected end of JSON input'],
  ['merge', 'null', 'Invalid JSON Patch'],
  ['merge', 'true', 'error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}'],
  ['strategic', '{"a"}', "invalid character '}' after object key"],
  ['strategic', '', 'unexpected end of JSON input'],
  ['strategic', '[]', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ['json', '{', 'error decoding patch: unexpected end of JSON input'],
  ['json', '{}', 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
  ['json', '[1]', 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
  ['json', '[{"op":1}]', 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string'],
  ['apply', '{', 'error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content'],
  ['apply', '[]', 'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ['apply', '', 'invalid object type: /, Kind='],
] // prettier-ignore
for (const [type, text, message] of unreadable)
  test(`a ${type} patch ${JSON.stringify(text)} is rejected: ${message}`, async () => {
    const { status, body } = await patch(type, text)
    deepEqual([status, body.reason, body.message], [400, 'BadRequest', message])
  })

const harmless: [type: keyof typeof types, text: string][] = [
  ['json', 'null'],
  ['strategic', 'null'],
]
for (const [type, text] of harmless)
  test(`a ${type} patch ${text} changes nothing`, async () => {
    const { status, body } = await patch(type, text)
    deepEqual([status, body.data], [200, { a: 'x' }])
  })

const unknown = '[{"op":"add","path":"/data/a","value":"b","op":"add","other":1},{"op":"add","path":"/x","value":1}]'
const strict: [type: keyof typeof types, text: string, errors: string][] = [
  ['merge', '{"x":1}', 'unknown field "x"'],
  ['merge', '{"data":{"a":"1","a":"2"}}', 'duplicate field "data.a"'],
  ['strategic', '{"x":{"l":[1,null],"s":"t"}}', 'unknown field "x"'],
  ['json', unknown, 'json patch duplicate field "[0].op", json patch unknown field "[0].other", unknown field "x"'],
]
for (const [type, text, errors] of strict) {
  test(`a ${type} patch ${text} is rejected with fieldValidation Strict: ${errors}`, async () => {
    const { status, body } = await patch(type, text, '&fieldValidation=Strict')
    deepEqual([status, body.reason, body.details.causes.length], [422, 'Invalid', 1])
    const [{ field, message }] = body.details.causes
    equal(body.message, ` "" is invalid: patch: ${message}`)
    equal(field, 'patch')
    const shown =
      type === 'strategic' ? /^Invalid value: "map\[x:map\[l:\[1 <nil>\] s:t\]\]": / : /^Invalid value: "\{\\"apiV/
    match(message, shown)
    equal(message.slice(message.indexOf('strict')), `strict decoding error: ${errors}`)
  })
  test(`a ${type} patch ${text} is accepted with warnings: ${errors}`, async () => {
    const { status, headers } = await patch(type, text)
    const warnings = errors.split(', ').map((error) => `299 - "${error.replaceAll('"', '\\"')}"`)
    deepEqual([status, headers['warning']], [200, warnings])
  })
}

test('a patched object with a wrong type is invalid', async () => {
  const { status, body } = await patch('merge', '{"data":{"a":1}}')
  equal(status, 422)
  match(
    body.message,
    /^ "" is invalid: patch: Invalid value: .*: json: cannot unmarshal number into Go struct field ConfigMap.data of type string$/,
  )
})

test('a JSON patch can replace the whole object', async () => {
  const replaced = (value: string) => patch('json', `[{"op":"replace","path":"","value":${value}}]`)
  const whole = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"y"}}'
  deepEqual((await replaced(whole)).body.data, { b: 'y' })
  match(
    (await replaced('[]')).body.message,
    /^ "" is invalid: patch: Invalid value: "\[\]": couldn't get version\/kind; /,
  )
  equal((await replaced('1')).status, 422)
})
