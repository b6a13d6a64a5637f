// The real kubectl with custom kinds: explain at any depth, api-resources, tables and warnings.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startUp } from '../process.ts'
import { kubectls, runKubectl } from '../kubectl.ts'

const condition = { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } }
const schema = {
  openAPIV3Schema: {
    description: 'A job that runs at certain times.',
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        description: 'When it runs.',
        type: 'object',
        properties: {
          times: {
            type: 'array',
            items: {
              type: 'object',
              required: ['hour'],
              properties: { hour: { description: 'From 0 to 23.', type: 'integer', maximum: 23 } },
            },
          },
          policy: { type: 'string', enum: ['Allow', 'Forbid'], default: 'Allow' },
          replicas: { type: 'integer' },
        },
      },
      status: { type: 'object', properties: { conditions: { type: 'array', items: condition } } },
    },
  },
}
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', kind: 'CronTab', shortNames: ['ct'], categories: ['jobs'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema,
        additionalPrinterColumns: [
          { name: 'Policy', type: 'string', jsonPath: '.spec.policy' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Hours', type: 'integer', jsonPath: '.spec.times[0].hour', priority: 1 },
        ],
      },
      { name: 'v1beta1', served: true, storage: false, deprecated: true, schema },
    ],
  },
}
const cronTab = {
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name: 'nightly' },
  spec: { times: [{ hour: 3 }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
}

for (const kubectl of kubectls())
  test(`kubectl ${kubectl.version}: api-resources, explain and get of a custom kind`, async () => {
    await using up = await startUp('--store', 'memory', '--nodes', '0')
    const run = (args: readonly string[], input = '') => runKubectl(kubectl, up.kubeconfig, args, { input })
    const k = async (...args: string[]) => {
      const { code, out, err } = await run(args)
      equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
      return out
    }
    const create = async (object: object) => {
      const { code, err } = await run(['create', '-f', '-'], JSON.stringify(object))
      equal(code, 0, err)
    }
    await create(definition)
    await k('wait', '--for=condition=Established', 'crd/crontabs.stable.example.com', '--timeout=200s')
    match(
      await k('api-resources', '--api-group=stable.example.com', '--no-headers'),
      /^crontabs +ct +stable\.example\.com\/v1 +true +CronTab\n$/,
    )
    match(await k('get', 'apiservices', 'v1.stable.example.com'), /v1\.stable\.example\.com +Local +True/)

    match(
      await k('explain', 'crontab'),
      /DESCRIPTION:\n {4}A job that runs at certain times\.\n[^]*spec\t<Object> -required-/,
    )
    match(await k('explain', 'ct.spec'), /policy\t<string>\n {2}enum: Allow, Forbid\n/)
    match(
      await k('explain', 'ct.spec.times'),
      /FIELD: times <\[\]Object>\n[^]*hour\t<integer> -required-\n {4}From 0 to 23\./,
    )
    match(await k('explain', 'ct.spec.times.hour'), /FIELD: hour <integer>/)
    match(await k('explain', 'ct.metadata.ownerReferences.uid'), /FIELD: uid <string>/)
    match(
      await k('explain', 'deployment.spec.template.spec.containers.livenessProbe.httpGet.httpHeaders'),
      /FIELD: httpHeaders <\[\]HTTPHeader>\n[^]*name\t<string> -required-\n[^]*value\t<string> -required-/,
    )
    match((await run(['explain', 'ct.spec.nothing'])).err, /field "nothing" does not exist/)

    await create(cronTab)
    equal(await k('get', 'ct'), 'NAME      POLICY   READY\nnightly   Allow    True\n')
    equal(await k('get', 'jobs', '-o', 'wide'), 'NAME      POLICY   READY   HOURS\nnightly   Allow    True    3\n')
    const old = await run(['get', 'crontabs.v1beta1.stable.example.com', '-o', 'name'])
    deepEqual(old, {
      code: 0,
      out: 'crontab.stable.example.com/nightly\n',
      err: 'Warning: stable.example.com/v1beta1 CronTab is deprecated; use stable.example.com/v1 CronTab\n',
    })
    const wrong = await run(['create', '-f', '-'], JSON.stringify({ ...cronTab, spec: { times: [{ hour: 'x' }] } }))
    match(wrong.err, /spec\.times\[0\]\.hour/)
  })
