// Bodies of arbitrary bytes in JSON, YAML and protobuf: parsed, or rejected with a Status below 500. The server stays
// up.
import { ok } from 'node:assert/strict'
import { configMap } from '../../api/core/v1/config-map.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { realClock } from '../../base/time/clock.ts'
import { fuzz, mutatedBytes, mutatedText, pick, randomJson } from '../../base/random/fuzz.harness.ts'
import { encodeEnvelope, encodeProtobuf } from '../../schema/protobuf/protobuf-encode.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import { parseBody } from './request-body.ts'
import { inlineYaml } from './yaml-parser.ts'

const yamlCorpus = [
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: "b"\n',
  'a: &x [1, 2]\nb: *x\n<<: {c: d}\n',
  '- a\n- b: |\n    text\n- ? c\n  : d\n',
  '{a: [1, {b: !!str 2}], "c": ~}',
  '--- \na: yes\n...\n',
]
const dictionary = [
  '\n',
  ' ',
  ':',
  '- ',
  '*',
  '&',
  '!!',
  '|',
  '>',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '#',
  '?',
  '<<',
  '\t',
  '%',
  '@',
]
const wired = encodeEnvelope(
  'v1',
  'ConfigMap',
  encodeProtobuf(configMap.message, { metadata: { name: 'a' }, data: { a: 'b' } }),
)

interface Sent {
  readonly type: string
  readonly bytes: Uint8Array
}

const { signal } = new AbortController()

async function isReadOrRefused({ type, bytes }: Sent): Promise<void> {
  const method = type.includes('patch') ? 'PATCH' : 'POST'
  const wire = { method, headers: { 'content-type': type }, signal } as unknown as WireRequest
  try {
    const body = await parseBody(wire, bytes, { clock: realClock, yaml: inlineYaml })
    if (body.kind === 'value') body.strictErrors?.(['unknown field "a"'])
  } catch (error) {
    ok(error instanceof StatusError && error.code >= 400 && error.code < 500, error as Error)
  }
}

const encoder = new TextEncoder()

fuzz('bodies in JSON', {
  runs: 2_000,
  make: (random): Sent => ({
    type: pick(random, ['application/json', 'application/merge-patch+json', 'application/json-patch+json']),
    bytes: mutatedBytes(encoder.encode(JSON.stringify(randomJson(random))), random),
  }),
  check: isReadOrRefused,
})

fuzz('bodies in YAML', {
  runs: 1_000,
  make: (random): Sent => ({
    type: pick(random, ['application/yaml', 'application/apply-patch+yaml']),
    bytes: encoder.encode(mutatedText(pick(random, yamlCorpus), random, dictionary)),
  }),
  check: isReadOrRefused,
})

fuzz('bodies in protobuf', {
  runs: 2_000,
  make: (random): Sent => ({ type: 'application/vnd.kubernetes.protobuf', bytes: mutatedBytes(wired, random) }),
  check: isReadOrRefused,
})
