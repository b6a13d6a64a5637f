// Forms: the objects that they describe, and what is shown at a field. test/ui/create.test.ts sends each to an API server.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { creationForms, fieldProblem, formOf, startValues, textOfForm, type CreationForm } from './creation-forms.ts'

const form = (id: string): CreationForm => {
  const found = formOf(id)
  ok(found)
  return found
}
const filled = (id: string, values: Readonly<Record<string, string>>): unknown =>
  parse(textOfForm(form(id), new Map([...startValues(form(id), 'shop'), ...Object.entries(values)])))

const metadata = { name: 'web', namespace: 'shop' }
const main = { name: 'main', image: 'nginx' }
const named = { name: 'web', image: 'nginx' }

const objects: readonly [id: string, values: Readonly<Record<string, string>>, object: object][] = [
  ['namespaces', { name: ' web ' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web' } }],
  [
    'deployments.apps',
    { ...named, replicas: '3', port: '80', env: 'A=1\n\nB=x=y\nC' },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            containers: [
              {
                ...main,
                ports: [{ containerPort: 80 }],
                env: [
                  { name: 'A', value: '1' },
                  { name: 'B', value: 'x=y' },
                  { name: 'C', value: '' },
                ],
              },
            ],
          },
        },
      },
    },
  ],
  [
    'deployments.apps',
    { ...named, namespace: '', replicas: 'many', command: ' sleep 10 ' },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 'many',
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ ...main, command: ['/bin/sh', '-c', 'sleep 10'] }] },
        },
      },
    },
  ],
  [
    'services',
    { name: 'web', selector: 'app=web', target: '8080', type: 'NodePort' },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ],
  [
    'configmaps',
    { name: 'web', data: 'a=1\n__proto__=2' },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: Object.fromEntries([
        ['a', '1'],
        ['__proto__', '2'],
      ]),
    },
  ],
  ['configmaps', { name: 'web' }, { apiVersion: 'v1', kind: 'ConfigMap', metadata }],
  [
    'secrets',
    { name: 'web', data: 'password= a' },
    { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData: { password: ' a' } },
  ],
  [
    'jobs.batch',
    { ...named, completions: '', retries: '0' },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [main] } } },
    },
  ],
  [
    'cronjobs.batch',
    { ...named, schedule: '*/5 * * * *', concurrency: 'Forbid' },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata,
      spec: {
        schedule: '*/5 * * * *',
        concurrencyPolicy: 'Forbid',
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [main] } } } },
      },
    },
  ],
  [
    'ingresses.networking.k8s.io',
    { name: 'web', host: 'a.example.com', service: 'web' },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata,
      spec: {
        rules: [
          {
            host: 'a.example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  ],
]
for (const [id, values, object] of objects)
  test(`a form of ${id} with ${Object.keys(values).join(', ')}`, () => deepEqual(filled(id, values), object))

test('every form begins with values for its fields, and only with names of its own', () => {
  equal(formOf('pods'), undefined)
  for (const each of creationForms) {
    const names = each.fields.map(({ name }) => name)
    equal(new Set(names).size, names.length)
    deepEqual([...startValues(each, 'shop').keys()], names)
    for (const { input, choices, start } of each.fields) equal(choices.includes(start), input === 'choice')
  }
})

const problems: readonly [what: string, field: string, value: string, error: string, problem: string][] = [
  ['an empty field that is required', 'name', ' ', 'metadata.name', 'must not be empty'],
  ['an error of the server at the field', 'name', 'A', 'metadata.name', 'is wrong'],
  ['a text in place of a number', 'replicas', 'many', 'spec.replicas', 'must be a whole number'],
  ['an error below the field', 'port', '0', 'spec.template.spec.containers[0].ports[0].containerPort', 'is wrong'],
  ['a conflict, whose field begins with a dot', 'replicas', '1', '.spec.replicas', 'is wrong'],
  ['an error of a field with a similar name', 'image', 'a', 'spec.template.spec.containers[0].imagePullPolicy', ''],
]
for (const [what, name, value, error, problem] of problems)
  test(`${what} is shown there`, () => {
    const found = form('deployments.apps').fields.find((each) => each.name === name)
    ok(found)
    equal(fieldProblem(found, new Map([[name, value]]), [{ field: error, message: 'is wrong' }]), problem)
  })
