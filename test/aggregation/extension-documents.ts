// The discovery and OpenAPI documents of the extension server.

const versionsOf = (group: string, versions: readonly string[]) =>
  versions.map((version) => ({ groupVersion: `${group}/${version}`, version }))

export const apiGroup = (group: string, versions: readonly string[]) => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  name: group,
  versions: versionsOf(group, versions),
  preferredVersion: versionsOf(group, versions)[0],
})

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

export const resourceList = (group: string, version: string) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${group}/${version}`,
  resources: [
    { name: 'echoes', singularName: 'echo', namespaced: false, kind: 'Echo', verbs: ['get', 'list'] },
    {
      name: 'flowers',
      singularName: 'flower',
      namespaced: true,
      kind: 'Flower',
      verbs,
      shortNames: ['fl'],
      categories: ['all'],
      storageVersionHash: 'abc',
    },
    { name: 'flowers/status', singularName: '', namespaced: true, kind: 'Flower', verbs: ['get', 'patch', 'update'] },
    {
      name: 'flowers/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get'],
    },
  ],
})

const responseKind = (group: string, version: string, kind: string) => ({ group, version, kind })

export const aggregatedGroups = (group: string, versions: readonly string[]) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: [
    {
      metadata: { name: group, creationTimestamp: null },
      versions: versions.map((version) => ({
        version,
        freshness: 'Current',
        resources: [
          {
            resource: 'flowers',
            responseKind: responseKind(group, version, 'Flower'),
            scope: 'Namespaced',
            singularResource: 'flower',
            verbs,
            shortNames: ['fl'],
            subresources: [
              { subresource: 'status', responseKind: responseKind(group, version, 'Flower'), verbs: ['get'] },
            ],
          },
        ],
      })),
    },
  ],
})

const flower = {
  description: 'A flower.',
  type: 'object',
  properties: { spec: { type: 'object', properties: { colour: { type: 'string', description: 'Its colour.' } } } },
}

const definitionName = (group: string, version: string) =>
  `${group.split('.').toReversed().join('.')}.${version}.Flower`

const kindOf = (group: string, version: string) => [{ group, version, kind: 'Flower' }]

const operation = (group: string, version: string, schema: object, isV3: boolean) => ({
  get: {
    description: 'lists flowers',
    operationId: `list${version}Flower`,
    ...(isV3 ? {} : { produces: ['application/json'], schemes: ['https'] }),
    responses: {
      200: { description: 'OK', ...(isV3 ? { content: { 'application/json': { schema } } } : { schema }) },
    },
    'x-kubernetes-action': 'list',
    'x-kubernetes-group-version-kind': kindOf(group, version)[0],
  },
})

export const openApiV2 = (group: string, versions: readonly string[]) => ({
  swagger: '2.0',
  info: { title: 'extension', version: 'v1' },
  paths: {
    '/healthz/': { get: { operationId: 'health', responses: { 200: { description: 'OK' } } } },
    ...Object.fromEntries(
      versions.map((version) => [
        `/apis/${group}/${version}/flowers`,
        operation(group, version, { $ref: `#/definitions/${definitionName(group, version)}` }, false),
      ]),
    ),
  },
  definitions: {
    'unused.Definition': { type: 'object' },
    ...Object.fromEntries(
      versions.map((version) => [
        definitionName(group, version),
        { ...flower, 'x-kubernetes-group-version-kind': kindOf(group, version) },
      ]),
    ),
  },
})

export const openApiV3 = (group: string, version: string) => ({
  openapi: '3.0.0',
  info: { title: 'extension', version: 'v1' },
  paths: {
    [`/apis/${group}/${version}/flowers`]: operation(
      group,
      version,
      { $ref: `#/components/schemas/${definitionName(group, version)}` },
      true,
    ),
  },
  components: {
    schemas: {
      [definitionName(group, version)]: { ...flower, 'x-kubernetes-group-version-kind': kindOf(group, version) },
    },
  },
})
