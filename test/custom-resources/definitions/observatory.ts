// Cameras whose exposures are containers, and observations that run as pods: built-in types in the schemas, values of any
// type, two versions with a webhook that converts, and columns that search a list.
import { container } from '../../../src/api/core/v1/container/container.ts'
import { containerState } from '../../../src/api/core/v1/pod/pod-status.ts'
import { podSpec } from '../../../src/api/core/v1/pod-spec/pod-spec.ts'
import { volume } from '../../../src/api/core/v1/volume/volume.ts'
import { choice, column, keyedList, object, text, type Schema } from '../../../src/gateway/definitions/schema-parts.ts'
import { builtInSchema } from './built-in-schema.ts'
import { anything, count, definitionOf, kindSchema, list, texts, time, type Project } from './project.ts'

const group = 'observatory.example.com'
const textType: Schema = { type: 'string' }
const name = text(63)

const dial: Schema = object(
  {
    name,
    label: textType,
    initial: anything,
    unit: { ...choice('arcsecond', 'kelvin', 'none'), default: 'none' },
    range: object({ from: { type: 'number' }, to: { type: 'number' } }),
  },
  ['name'],
)
const { properties: containerFields = {} } = builtInSchema(container)
const exposure: Schema = object(
  {
    ...containerFields,
    filter: choice('red', 'green', 'blue', 'clear'),
    seconds: { type: 'number' },
    ifCloudy: choice('abandon', 'wait'),
    guideStars: keyedList(object({ name, magnitude: { type: 'number' }, spectrum: anything }, ['name']), 64, 'name'),
    masks: list(object({ shape: textType, corners: list({ type: 'integer' }) })),
  },
  ['name'],
)
const camera: Schema = object(
  {
    dials: keyedList(dial, 128, 'name'),
    shelves: list(builtInSchema(volume)),
    exposures: list(exposure),
    darkFrames: list(exposure),
    cooling: object({ kelvin: count, gas: textType, alarms: list(textType) }),
  },
  ['exposures'],
)

const { properties: podFields = {} } = builtInSchema(podSpec)
const ofPods = ['affinity', 'nodeSelector', 'tolerations', 'securityContext', 'topologySpreadConstraints', 'dnsConfig']
const dome: Schema = object(Object.fromEntries(ofPods.map((field) => [field, podFields[field] ?? anything])))

const night = (more: Readonly<Record<string, Schema>>): Schema =>
  object({
    dome,
    astronomer: { type: 'string', default: 'default' },
    deadline: textType,
    attempts: count,
    target: object({ catalogue: textType, designation: textType, drift: list(anything) }),
    telescope: object({
      mount: object({ kind: textType, limits: anything }),
      borrowed: object({ from: textType, camera: textType }),
      built: camera,
    }),
    turned: list(object({ dial: name, to: anything }, ['dial', 'to'])),
    ...more,
  })
const { properties: states = {} } = builtInSchema(containerState)
const logbook: Schema = object({
  began: time,
  ended: time,
  stamps: texts,
  generation: { type: 'integer', format: 'int64' },
  earlier: anything,
  sky: list(
    object({ measure: textType, value: textType, because: textType, taken: time, remark: textType }, [
      'measure',
      'value',
    ]),
  ),
  frames: list(object({ ...states, container: textType, statistics: anything })),
})

const columns = [
  column('Clear', ".status.sky[?(@.measure=='Clear')].value"),
  column('Because', ".status.sky[?(@.measure=='Clear')].because"),
  column('Began', '.status.began', 'date'),
  column('Owner', '.metadata.ownerReferences[0].name', 'string', 1),
]
const subresources = { status: {} }
const conversion = {
  strategy: 'Webhook',
  webhook: {
    conversionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: { service: { name: 'converter', namespace: 'observatory' } },
  },
} as const

const older = { name: 'v1beta1', served: true, storage: false, subresources }
const stored = { name: 'v1', served: true, storage: true, subresources }

const cameraDefinition = definitionOf(
  group,
  'Camera',
  'Namespaced',
  [
    { ...older, schema: kindSchema({ spec: anything }) },
    { ...stored, schema: kindSchema({ spec: camera }) },
  ],
  { conversion },
)

/** As large as the largest definitions of one concept. */
export const observation = definitionOf(
  group,
  'Observation',
  'Namespaced',
  [
    {
      ...older,
      additionalPrinterColumns: columns,
      schema: kindSchema({ spec: night({ plate: textType }), status: logbook }),
    },
    {
      ...stored,
      additionalPrinterColumns: columns,
      schema: kindSchema({ spec: night({ reduction: anything }), status: logbook }),
    },
  ],
  { conversion, shortNames: ['ob', 'obs'] },
)

const v1 = `${group}/v1`
const flash = { name: 'flash', image: 'busybox', command: ['sh', '-c', 'echo "click"\ndate'] }
const cameraObject = (spec: object) => ({ apiVersion: v1, kind: 'Camera', metadata: { name: 'one' }, spec })
const nightObject = (spec: object) => ({
  apiVersion: v1,
  kind: 'Observation',
  metadata: { generateName: 'night-' },
  spec,
})

export const observatory: Project = {
  crds: [cameraDefinition, observation],
  samples: [
    { status: 201, object: cameraObject({ exposures: [flash] }) },
    {
      status: 201,
      object: cameraObject({
        dials: [{ name: 'a' }, { name: 'b', unit: 'kelvin', initial: ['x', 1, { any: null }] }],
        exposures: [
          {
            ...flash,
            resources: { limits: { cpu: 1, memory: '1Gi' } },
            readinessProbe: { httpGet: { port: 'http', path: '/' } },
            env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
          },
        ],
        shelves: [{ name: 'v', emptyDir: { sizeLimit: '1.5Gi' } }],
      }),
    },
    {
      status: 201,
      object: nightObject({
        telescope: { borrowed: { from: 'hill', camera: 'one' } },
        turned: [
          { dial: 'a', to: { deep: [{ er: true }] } },
          { dial: 'b', to: 1 },
        ],
        dome: { tolerations: [{ key: 'k', operator: 'Exists' }], nodeSelector: { a: 'b' } },
      }),
    },
    {
      status: 400,
      message:
        'Observation in version "v1" cannot be handled as a Observation: strict decoding error: unknown field "spec.plate", unknown field "spec.telescope.borrowed.plate", unknown field "spec.telescope.built.exposures[0].imagePullPolice"',
      object: nightObject({
        plate: 'x',
        telescope: {
          borrowed: { camera: 'one', plate: 'y' },
          built: { exposures: [{ ...flash, imagePullPolice: 'Always' }] },
        },
      }),
    },
    {
      status: 422,
      message:
        'Camera.observatory.example.com "one" is invalid: [spec.exposures[0].ifCloudy: Unsupported value: "retry": supported values: "abandon", "wait", spec.exposures[0].name: Required value]',
      object: cameraObject({ exposures: [{ image: 'busybox', ifCloudy: 'retry' }] }),
    },
    {
      status: 500,
      message:
        'conversion webhook for observatory.example.com/v1beta1, Kind=Camera failed: Post "https://converter.observatory.svc:443/?timeout=30s": service "converter" not found',
      object: { apiVersion: `${group}/v1beta1`, kind: 'Camera', metadata: { name: 'older' }, spec: {} },
    },
  ],
}
