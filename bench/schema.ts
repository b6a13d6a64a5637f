// Cost of decoding and encoding a Pod of 1.5 KB: decode, defaults, validation, JSON and protobuf.
import { validateMetadata } from '../src/api/validation/metadata-rules.ts'
import { pod, type Pod } from '../src/api/core/v1/pod/pod.ts'
import { decode } from '../src/schema/decoding/decode.ts'
import { withDefaults } from '../src/schema/decoding/defaults.ts'
import { StoredObject } from '../src/apiserver/storage/stored-object.ts'
import { storedBytes } from '../src/apiserver/storage/stored-json.ts'
import { decodeProtobuf } from '../src/schema/protobuf/protobuf-decode.ts'
import { encodeProtobuf } from '../src/schema/protobuf/protobuf-encode.ts'
import { mayHaveDuplicateKeys } from '../src/schema/json/duplicate-keys.ts'
import { validateFields } from '../src/schema/validation/validate.ts'
import * as reference from '../test/reference/reference.ts'
import { nanosecondsPer, type Bench } from './bench.ts'

const probe = (path: string, periodSeconds: number) => ({
  httpGet: { path, port: 'http', httpHeaders: [{ name: 'x-probe', value: 'coxswain' }] },
  periodSeconds,
})

/** As created from a Deployment's template: two containers, probes, volumes, tolerations. */
const sent = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-6d4cf56db6-7xk2p',
    namespace: 'default',
    labels: { app: 'web', 'pod-template-hash': '6d4cf56db6', tier: 'front' },
    annotations: { 'example.com/revision': '17' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web-6d4cf56db6',
        uid: '0f0d4f0a-6a42-4b5c-9d5f-2f2d9c6d3e11',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    serviceAccountName: 'web',
    nodeSelector: { disk: 'ssd' },
    containers: [
      {
        name: 'web',
        image: 'registry.example.com/shop/web:1.27.3',
        command: ['/bin/web', '--listen=:8080'],
        ports: [{ name: 'http', containerPort: 8080 }],
        env: [
          { name: 'LOG_LEVEL', value: 'info' },
          { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        ],
        resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        readinessProbe: probe('/ready', 5),
        livenessProbe: probe('/live', 10),
        volumeMounts: [
          { name: 'config', mountPath: '/etc/web', readOnly: true },
          { name: 'scratch', mountPath: '/tmp' },
        ],
      },
      { name: 'log', image: 'registry.example.com/log:3', args: ['-f'], resources: { requests: { cpu: '10m' } } },
    ],
    volumes: [
      { name: 'config', configMap: { name: 'web-config' } },
      { name: 'scratch', emptyDir: {} },
    ],
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  },
}
const text = JSON.stringify(sent)

const calls = 2_000

function microsecondsPer(work: () => unknown): number {
  const nanoseconds = nanosecondsPer(calls, (count) => {
    for (let i = 0; i < count; i++) work()
  })
  return nanoseconds / 1000
}

const shown = (what: string, work: () => unknown, interpreted?: () => unknown): string => {
  const compiled = `${what}: ${microsecondsPer(work).toFixed(1)} µs`
  return interpreted === undefined ? compiled : `${compiled}, interpreted ${microsecondsPer(interpreted).toFixed(1)} µs`
}

export const schemaBench: Bench = {
  name: 'schema',
  run() {
    const { message } = pod
    const body = JSON.parse(text) as object
    const bytes = new TextEncoder().encode(text)
    const decoded = decode(message, body).value as unknown as Pod
    const filled = withDefaults(message, decoded)
    const object = pod.applyDefaults(filled)
    const protobuf = encodeProtobuf(message, object)
    const storedForm = storedBytes(object)
    const stored = StoredObject.ofBytes(storedForm, 1)
    const wayIn = () => {
      const made = pod.applyDefaults(withDefaults(message, decode(message, body).value as unknown as Pod))
      return [validateMetadata(made, pod), validateFields(message, made), pod.validate(made), JSON.stringify(made)]
    }
    return [
      `a Pod of ${text.length} bytes as sent; ${JSON.stringify(object).length} with defaults, ${protobuf.length} in protobuf`,
      shown('JSON.parse', () => JSON.parse(text)),
      shown('search for keys that stand twice', () => mayHaveDuplicateKeys(bytes)),
      shown(
        'decode',
        () => decode(message, body),
        () => reference.decode(message, body),
      ),
      shown(
        'static defaults',
        () => withDefaults(message, decoded),
        () => reference.withDefaults(message, decoded),
      ),
      shown('defaults of a Pod', () => pod.applyDefaults(filled)),
      shown('validate metadata', () => validateMetadata(object, pod)),
      shown(
        'validate fields',
        () => validateFields(message, object),
        () => reference.validateFields(message, object),
      ),
      shown('validate a Pod', () => pod.validate(object)),
      shown('JSON.stringify', () => JSON.stringify(object)),
      shown('all of it but JSON.parse', wayIn),
      shown('the bytes of a version: for the store', () => storedBytes(object)),
      shown('the bytes of a version: for its first reader', () => StoredObject.ofBytes(storedForm, 1).json),
      shown('the bytes of a version: for each further reader', () => stored.json),
      shown(
        'protobuf encode',
        () => encodeProtobuf(message, object),
        () => reference.encodeProtobuf(message, object),
      ),
      shown(
        'protobuf decode',
        () => decodeProtobuf(message, protobuf),
        () => reference.decodeProtobuf(message, protobuf),
      ),
    ]
  },
}
