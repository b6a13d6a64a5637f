// The forms of the most common kinds: their fields, and the object that they describe. A form only writes the text of the editor, which
// is what is sent.
import { yamlText } from '../yaml-text.ts'
import { commandOf, isNumber, numberOf, pairsOf, valueOf, type FormField, type FormValues } from './form-values.ts'

export interface CreationForm {
  /** The resource: `deployments.apps`. */
  readonly id: string
  readonly kind: string
  readonly fields: readonly FormField[]
  readonly object: (values: FormValues) => object
}

const field = (name: string, label: string, sets: readonly string[], more: Partial<FormField> = {}): FormField => ({
  ...{ name, label, sets, input: 'text', start: '', isRequired: false, hint: '', choices: [] },
  ...more,
})
const required = { isRequired: true }

const nameField = (...sets: readonly string[]): FormField => field('name', 'Name', ['metadata.name', ...sets], required)
const namespaceField = field('namespace', 'Namespace', ['metadata.namespace'])
const podPath = 'spec.template.spec'
const containerFields = (path: string): readonly FormField[] => [
  field('image', 'Image', [`${path}.containers[0].image`], { ...required, hint: 'nginx:1.27' }),
  field('command', 'Command', [`${path}.containers[0].command`], { hint: 'that of the image' }),
]

const metadataOf = (values: FormValues): object => ({
  name: valueOf(values, 'name'),
  namespace: valueOf(values, 'namespace') || undefined,
})

const containerOf = (values: FormValues, more: object = {}): object => ({
  name: 'main',
  image: valueOf(values, 'image'),
  command: commandOf(values, 'command'),
  ...more,
})

const jobSpecOf = (values: FormValues): object => ({
  completions: numberOf(values, 'completions'),
  backoffLimit: numberOf(values, 'retries'),
  template: { spec: { restartPolicy: 'Never', containers: [containerOf(values)] } },
})

const namespaceForm: CreationForm = {
  id: 'namespaces',
  kind: 'Namespace',
  fields: [nameField()],
  object: (values) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: valueOf(values, 'name') } }),
}

const deploymentForm: CreationForm = {
  id: 'deployments.apps',
  kind: 'Deployment',
  fields: [
    nameField('spec.selector', 'spec.template.metadata'),
    namespaceField,
    ...containerFields(podPath),
    field('replicas', 'Replicas', ['spec.replicas'], { input: 'number', start: '1' }),
    field('port', 'Container port', [`${podPath}.containers[0].ports`], { input: 'number' }),
    field('env', 'Environment', [`${podPath}.containers[0].env`], { input: 'lines', hint: 'NAME=value' }),
  ],
  object(values) {
    const labels = { app: valueOf(values, 'name') }
    const port = numberOf(values, 'port')
    const env = Object.entries(pairsOf(values, 'env') ?? {}).map(([name, value]) => ({ name, value }))
    const container = containerOf(values, {
      ports: port === undefined ? undefined : [{ containerPort: port }],
      env: env.length === 0 ? undefined : env,
    })
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: metadataOf(values),
      spec: {
        replicas: numberOf(values, 'replicas'),
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    }
  },
}

const serviceTypes = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const

const serviceForm: CreationForm = {
  id: 'services',
  kind: 'Service',
  fields: [
    nameField(),
    namespaceField,
    field('selector', 'Labels of the pods', ['spec.selector'], { input: 'lines', hint: 'app=web' }),
    field('port', 'Port', ['spec.ports', 'spec.ports[0].port'], { ...required, input: 'number', start: '80' }),
    field('target', 'Port of the pods', ['spec.ports[0].targetPort'], { hint: 'the same' }),
    field('type', 'Type', ['spec.type'], { input: 'choice', start: 'ClusterIP', choices: serviceTypes }),
  ],
  object: (values) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(values),
    spec: {
      type: valueOf(values, 'type'),
      selector: pairsOf(values, 'selector'),
      ports: [{ port: numberOf(values, 'port'), targetPort: numberOf(values, 'target') }],
    },
  }),
}

const configMapForm: CreationForm = {
  id: 'configmaps',
  kind: 'ConfigMap',
  fields: [
    nameField(),
    namespaceField,
    field('data', 'Data', ['data'], { input: 'lines', hint: 'key=value, one in each line' }),
  ],
  object: (values) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadataOf(values),
    data: pairsOf(values, 'data'),
  }),
}

const secretForm: CreationForm = {
  id: 'secrets',
  kind: 'Secret',
  fields: [
    nameField(),
    namespaceField,
    field('data', 'Data', ['data', 'stringData'], { input: 'lines', hint: 'key=value, one in each line' }),
    field('type', 'Type', ['type'], {
      input: 'choice',
      start: 'Opaque',
      choices: ['Opaque', 'kubernetes.io/basic-auth', 'kubernetes.io/ssh-auth'],
    }),
  ],
  object: (values) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(values),
    type: valueOf(values, 'type'),
    stringData: pairsOf(values, 'data'),
  }),
}

const jobForm: CreationForm = {
  id: 'jobs.batch',
  kind: 'Job',
  fields: [
    nameField(),
    namespaceField,
    ...containerFields(podPath),
    field('completions', 'Completions', ['spec.completions'], { input: 'number', start: '1' }),
    field('retries', 'Retries', ['spec.backoffLimit'], { input: 'number', start: '6' }),
  ],
  object: (values) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadataOf(values),
    spec: jobSpecOf(values),
  }),
}

const cronJobForm: CreationForm = {
  id: 'cronjobs.batch',
  kind: 'CronJob',
  fields: [
    nameField(),
    namespaceField,
    field('schedule', 'Schedule', ['spec.schedule'], { ...required, hint: '*/5 * * * *' }),
    ...containerFields('spec.jobTemplate.spec.template.spec'),
    field('concurrency', 'While a Job still runs', ['spec.concurrencyPolicy'], {
      input: 'choice',
      start: 'Allow',
      choices: ['Allow', 'Forbid', 'Replace'],
    }),
  ],
  object: (values) => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: metadataOf(values),
    spec: {
      schedule: valueOf(values, 'schedule'),
      concurrencyPolicy: valueOf(values, 'concurrency'),
      jobTemplate: { spec: jobSpecOf(values) },
    },
  }),
}

const ingressPath = 'spec.rules[0].http.paths[0]'
const ingressForm: CreationForm = {
  id: 'ingresses.networking.k8s.io',
  kind: 'Ingress',
  fields: [
    nameField(),
    namespaceField,
    field('host', 'Host', ['spec.rules[0].host'], { hint: 'all' }),
    field('path', 'Path', [`${ingressPath}.path`], { ...required, start: '/' }),
    field('service', 'Service', [`${ingressPath}.backend.service.name`, `${ingressPath}.backend`], required),
    field('port', 'Port of the Service', [`${ingressPath}.backend.service.port`], {
      ...required,
      input: 'number',
      start: '80',
    }),
    field('class', 'Class', ['spec.ingressClassName'], { hint: 'the default class' }),
  ],
  object(values) {
    const service = { name: valueOf(values, 'service'), port: { number: numberOf(values, 'port') } }
    const path = { path: valueOf(values, 'path'), pathType: 'Prefix', backend: { service } }
    return {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: metadataOf(values),
      spec: {
        ingressClassName: valueOf(values, 'class') || undefined,
        rules: [{ host: valueOf(values, 'host') || undefined, http: { paths: [path] } }],
      },
    }
  },
}

export const creationForms: readonly CreationForm[] = [
  configMapForm,
  cronJobForm,
  deploymentForm,
  ingressForm,
  jobForm,
  namespaceForm,
  secretForm,
  serviceForm,
]

export const formOf = (id: string): CreationForm | undefined => creationForms.find((form) => form.id === id)

/** The values with which a form begins. */
export const startValues = ({ fields }: CreationForm, namespace: string): FormValues =>
  new Map(fields.map(({ name, start }) => [name, name === 'namespace' ? namespace : start]))

/** The text of the editor. */
export const textOfForm = (form: CreationForm, values: FormValues): string => yamlText(form.object(values))

/** What the server, or an empty field, says about a field; empty if it is well. */
export function fieldProblem(
  { isRequired, input, name, sets }: FormField,
  values: FormValues,
  errors: readonly { readonly field: string; readonly message: string }[],
): string {
  const value = valueOf(values, name)
  if (isRequired && value === '') return 'must not be empty'
  if (input === 'number' && value !== '' && !isNumber(value)) return 'must be a whole number'
  const isAbout = (path: string): boolean =>
    sets.some((set) => path === set || path.startsWith(`${set}.`) || path.startsWith(`${set}[`))
  return errors.find(({ field: path }) => isAbout(path.replace(/^\./, '')))?.message ?? ''
}
