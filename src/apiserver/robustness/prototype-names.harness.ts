// Requests that use the names of properties of every JavaScript object, wherever a client can choose a name. The same
// requests were sent to kube-apiserver v1.36 (test/record/responses.ts); its responses are in
// test/facts/prototype-names.json.

export const prototypeNames = ['constructor', '__proto__', 'hasOwnProperty', 'toString', 'valueOf'] as const

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The compared part of a successful response, as a path into it. */
  readonly shows?: string
  /** The message differs from upstream's: only the code is compared. */
  readonly codeOnly?: true
  /** Our code differs for unrelated reasons: the request must be rejected with a 4xx. */
  readonly refusedOnly?: true
}

const core = '/api/v1/namespaces/default'
const json = (type: string) => ({ 'content-type': `application/${type}` })
const [merge, strategic, patch] = ['merge-patch+json', 'strategic-merge-patch+json', 'json-patch+json'].map(json)
const apply = json('apply-patch+yaml')

/** In order: later requests read what earlier ones wrote. */
export function requestsWith(name: string, index: number): readonly RecordedRequest[] {
  const at = (object: object): string => JSON.stringify(object).replaceAll('NAME', name)
  const map = `map-${index}`
  const container = { name: 'c', image: 'i' }
  const pod = (spec: object) => at({ metadata: { name: `pod-${index}` }, spec: { containers: [container], ...spec } })
  const post = (path: string, body: object, shows?: string): RecordedRequest => ({
    method: 'POST',
    path,
    body: at(body),
    ...(shows === undefined ? {} : { shows }),
  })
  const change = (headers: Record<string, string> | undefined, body: object, query = ''): RecordedRequest => ({
    method: 'PATCH',
    path: `${core}/configmaps/${map}${query}`,
    headers: headers ?? {},
    body: at(body),
    shows: 'data',
  })
  const get = (path: string, more: Partial<RecordedRequest> = {}): RecordedRequest => ({ method: 'GET', path, ...more })
  const dry = '?dryRun=All'
  const applied = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: map }, data })
  const rules = [{ apiGroups: ['NAME'], resources: ['NAME'], verbs: ['NAME'], resourceNames: ['NAME'] }]
  const lists = { matchLabels: { NAME: 'v' } }
  const template = { metadata: { labels: { NAME: 'v' } }, spec: { containers: [container] } }
  return [
    // Keys of maps, through every way to write them.
    post(`${core}/configmaps`, { metadata: { name: map }, data: { NAME: 'v', a: 'b' } }, 'data'),
    get(`${core}/configmaps/${map}`, { shows: 'data' }),
    change(merge, { data: { NAME: 'w' } }),
    change(merge, { data: { NAME: null } }),
    { ...change(merge, { data: { NAME: { NAME: 1 } } }), refusedOnly: true },
    change(strategic, { data: { NAME: 'x' } }),
    change(strategic, { data: { NAME: null } }),
    change(patch, [{ op: 'test', path: '/data/NAME', value: 'v' }]),
    change(patch, [{ op: 'remove', path: '/data/NAME' }]),
    change(patch, [{ op: 'add', path: '/data/NAME', value: 'y' }]),
    change(patch, [{ op: 'test', path: '/data/NAME', value: 'y' }]),
    change(patch, [{ op: 'replace', path: '/data/NAME', value: 'z' }]),
    change(patch, [{ op: 'copy', from: '/data/NAME', path: '/data/copy' }]),
    change(patch, [{ op: 'add', path: '/data/NAME/NAME', value: 'z' }]),
    change(patch, [{ op: 'add', path: '/NAME', value: 'z' }]),
    change(patch, [{ op: 'remove', path: '/data/NAME' }]),
    change(apply, applied({ NAME: 'applied' }), '?fieldManager=one'),
    change(apply, applied({ NAME: 'other' }), '?fieldManager=two'),
    change(apply, applied({ NAME: 'other' }), '?fieldManager=two&force=true'),
    change(apply, applied({}), '?fieldManager=two'),
    { ...change(apply, { ...applied({}), NAME: 1 }, '?fieldManager=two'), refusedOnly: true },
    {
      method: 'POST',
      path: `${core}/configmaps${dry}`,
      headers: json('yaml'),
      body: `metadata:\n  name: yaml\ndata:\n  ${name}: v\n`,
      shows: 'data',
    },
    post(`${core}/secrets${dry}`, { metadata: { name: 's' }, data: { NAME: 'dg==' } }, 'data'),
    post(`${core}/secrets${dry}`, { metadata: { name: 's' }, stringData: { NAME: 'v' } }, 'data'),
    post(`${core}/configmaps`, { metadata: { name: `l-${index}`, labels: { NAME: 'v' } } }, 'metadata.labels'),
    post(`${core}/configmaps${dry}`, { metadata: { name: 'n', annotations: { NAME: 'v' } } }, 'metadata.annotations'),
    // Selectors, queries, headers and media types.
    ...['NAME', 'NAME=v', 'NAME!=v', '!NAME', 'NAME in (v)', 'NAME notin (v)', 'NAME>1', 'a=NAME'].map((selector) =>
      get(`${core}/configmaps?labelSelector=${encodeURIComponent(selector.replace('NAME', name))}`, { shows: 'names' }),
    ),
    get(`${core}/configmaps?fieldSelector=${name}=v`),
    get(`${core}/configmaps?fieldSelector=metadata.name=${name}`, { shows: 'names' }),
    get(`${core}/configmaps/${map}?${name}=1&pretty=${name}`, { shows: 'data' }),
    ...['resourceVersion', 'resourceVersionMatch', 'limit', 'continue', 'timeout'].map((option) =>
      get(`${core}/configmaps?${option}=${name}`, { codeOnly: true }),
    ),
    get(`${core}/configmaps/${map}`, { headers: { accept: name }, codeOnly: true }),
    get(`${core}/configmaps/${map}`, { headers: { accept: `application/json;as=${name}` }, codeOnly: true }),
    get(`${core}/configmaps/${map}`, { headers: { [name]: name, 'accept-encoding': name }, shows: 'data' }),
    {
      method: 'POST',
      path: `${core}/configmaps`,
      headers: { 'content-type': name },
      body: '{}',
      codeOnly: true,
    },
    {
      method: 'PATCH',
      path: `${core}/configmaps/${map}`,
      headers: { 'content-type': name },
      body: '{}',
      codeOnly: true,
    },
    ...['dryRun', 'fieldValidation'].map((option) =>
      post(`${core}/configmaps?${option}=NAME`.replace('NAME', name), { metadata: { name: 'o' } }),
    ),
    post(`${core}/configmaps?dryRun=All&fieldManager=${name}`, { metadata: { name: 'm' } }),
    { method: 'DELETE', path: `${core}/configmaps/none?propagationPolicy=${name}` },
    { method: name, path: `${core}/configmaps/${map}`, codeOnly: true },
    // Segments of paths.
    ...[
      '/NAME',
      '/api/NAME',
      '/api/NAME/pods',
      '/apis/NAME',
      '/apis/NAME/v1',
      '/apis/NAME/v1/pods',
      '/apis/apps/NAME',
      '/api/v1/NAME',
      `${core}/NAME`,
      `${core}/NAME/x`,
      `${core}/configmaps/${map}/NAME`,
      `${core}/pods/x/NAME`,
      '/openapi/v3/NAME',
      '/healthz/NAME',
    ].map((path) => get(path.replace('NAME', name), { codeOnly: true })),
    get(`/api/v1/namespaces/${name}`),
    get(`${core}/configmaps/${name}`),
    get(`/api/v1/namespaces/${name}/configmaps`, { shows: 'names' }),
    // Names, kinds and unknown fields.
    post(`${core}/configmaps${dry}`, { metadata: { name: 'NAME' } }, 'metadata.name'),
    { ...post(`${core}/configmaps${dry}`, { kind: 'NAME', metadata: { name: 'k' } }), codeOnly: true },
    { ...post(`${core}/configmaps${dry}`, { apiVersion: 'NAME', metadata: { name: 'k' } }), codeOnly: true },
    post(`${core}/configmaps${dry}`, { metadata: { name: 'u', NAME: 1 }, NAME: { NAME: 1 } }, 'metadata.name'),
    post(`${core}/configmaps${dry}&fieldValidation=Strict`, { metadata: { name: 'u', NAME: 1 }, NAME: { NAME: 1 } }),
    post(`${core}/configmaps${dry}`, { metadata: { name: 'f', finalizers: ['NAME'] } }, 'metadata.finalizers'),
    // Pods and what limits them.
    ...[
      { nodeSelector: { NAME: 'v' } },
      { containers: [{ ...container, env: [{ name: 'NAME', value: 'v' }] }] },
      { containers: [{ ...container, resources: { limits: { NAME: '1' } } }] },
      { containers: [{ ...container, resources: { requests: { 'a.b/NAME': '1' }, limits: { 'a.b/NAME': '1' } } }] },
      { volumes: [{ name: 'v', NAME: {} }] },
      { tolerations: [{ key: 'NAME', operator: 'Exists' }] },
      { restartPolicy: 'NAME' },
      { overhead: { NAME: '1' } },
    ].map((spec) => ({ method: 'POST', path: `${core}/pods${dry}`, body: pod(spec), shows: 'metadata.name' })),
    post(`${core}/resourcequotas${dry}`, { metadata: { name: 'q' }, spec: { hard: { NAME: '1' } } }, 'spec.hard'),
    post(`${core}/resourcequotas${dry}`, { metadata: { name: 'q' }, spec: { hard: { 'count/NAME': '1' } } }, 'spec'),
    post(`${core}/resourcequotas${dry}`, { metadata: { name: 'q' }, spec: { scopes: ['NAME'] } }),
    post(
      `${core}/limitranges${dry}`,
      { metadata: { name: 'r' }, spec: { limits: [{ type: 'Container', max: { NAME: '1' } }] } },
      'spec',
    ),
    post(
      `${core}/services${dry}`,
      { metadata: { name: 's' }, spec: { selector: { NAME: 'v' }, ports: [{ port: 1 }] } },
      'spec.selector',
    ),
    {
      ...post(`/apis/apps/v1/namespaces/default/deployments${dry}`, {
        metadata: { name: 'd' },
        spec: { selector: lists, template },
      }),
      codeOnly: true,
    },
    // Permissions.
    post(
      `/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles${dry}`,
      { metadata: { name: 'NAME' }, rules },
      'rules',
    ),
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        spec: { user: 'NAME', groups: ['NAME'], resourceAttributes: { verb: 'NAME', resource: 'NAME', group: 'NAME' } },
      },
      'status.allowed',
    ),
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { spec: { user: 'x', extra: { NAME: ['NAME'] }, nonResourceAttributes: { path: '/NAME', verb: 'NAME' } } },
      'status.allowed',
    ),
    post(
      '/apis/storage.k8s.io/v1/storageclasses?dryRun=All',
      { metadata: { name: 'c' }, provisioner: 'p', parameters: { NAME: 'v' } },
      'parameters',
    ),
    post('/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All', { metadata: { name: 'NAME' }, value: 1 }, 'value'),
    { method: 'POST', path: `${core}/pods${dry}`, body: pod({ priorityClassName: name }), shows: 'metadata.name' },
    { method: 'POST', path: `${core}/pods${dry}`, body: pod({ runtimeClassName: name }), shows: 'metadata.name' },
    {
      ...post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, 'status.userInfo'),
      headers: { 'impersonate-user': name, 'impersonate-group': name, [`impersonate-extra-${name}`]: name },
    },
    // Expressions and schemas.
    ...[`object.data.NAME == 'v'`, `'NAME' in object.data && has(object.data.NAME)`, 'variables.NAME', 'NAME'].map(
      (expression): RecordedRequest => ({
        ...post('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All', {
          metadata: { name: 'policy' },
          spec: {
            matchConstraints: {
              resourceRules: [
                { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] },
              ],
            },
            variables: [{ name: 'NAME', expression: 'true' }],
            validations: [{ expression }],
          },
        }),
        codeOnly: true,
      }),
    ),
    {
      ...post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', {
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  properties: { spec: { type: 'object', properties: { NAME: { type: 'string', default: 'NAME' } } } },
                },
              },
            },
          ],
        },
      }),
      codeOnly: true,
    },
    {
      ...post(`${core}/configmaps${dry}`, {
        metadata: {
          name: 'g',
          managedFields: [
            { manager: 'm', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { NAME: {} } },
          ],
        },
      }),
      codeOnly: true,
    },
  ]
}

/** The compared part of a response. */
export function shownOf({ shows, codeOnly, refusedOnly }: RecordedRequest, code: number, body: unknown): unknown {
  const value = body as { message?: string; items?: { metadata: { name: string } }[] }
  if (codeOnly || refusedOnly) return undefined
  if (code >= 400) return value.message
  if (shows === undefined) return undefined
  if (shows === 'names') return value.items?.map(({ metadata }) => metadata.name)
  return shows.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value)
}
