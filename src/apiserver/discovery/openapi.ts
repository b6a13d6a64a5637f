// OpenAPI v3 of one group and version: the schemas of its kinds, and paths that say which parameters a verb takes.
import { scale } from '../../api/autoscaling/v1/scale.ts'
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind.ts'
import { deleteOptions } from '../../api/meta/v1/delete-options.ts'
import { listMeta, status } from '../../api/meta/v1/status.ts'
import { addOpenApiSchemas, schemaReference, type OpenApiSchema } from '../../schema/openapi.ts'

export function openApiV3(group: string, version: string): object | undefined {
  const served = kinds.filter((kind) => kind.group === group && kind.version === version)
  if (served.length === 0) return undefined
  const schemas = new Map<string, OpenApiSchema>()
  const paths: Record<string, object> = {}
  for (const kind of served) {
    addOpenApiSchemas(kind.message, schemas)
    addList(schemas, kind)
    Object.assign(paths, pathsOf(kind))
  }
  for (const message of [
    deleteOptions,
    status,
    ...(served.some(({ scale: scaling }) => scaling !== undefined) ? [scale] : []),
  ]) {
    addOpenApiSchemas(message, schemas)
    addTypeMeta(schemas, message.name)
  }
  // Kinds of other groups stand in these too: a StatefulSet holds claims.
  for (const kind of kinds) if (schemas.has(kind.message.name)) addTypeMeta(schemas, kind.message.name, gvk(kind))
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.4' },
    paths,
    components: { schemas: Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))) },
  }
}

const gvk = ({ group, version, kind }: Kind) => ({ group, kind, version })

function addTypeMeta(schemas: Map<string, OpenApiSchema>, name: string, kind?: object): void {
  const schema = schemas.get(name)
  const properties = { apiVersion: { type: 'string' }, kind: { type: 'string' }, ...(schema?.['properties'] as object) }
  schemas.set(name, {
    ...schema,
    properties,
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': [kind] }),
  })
}

/** `<Kind>List`: metadata and items. */
function addList(schemas: Map<string, OpenApiSchema>, kind: Kind): void {
  addOpenApiSchemas(listMeta, schemas)
  schemas.set(`${kind.message.name}List`, {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: { allOf: [schemaReference(kind.message.name)], default: {} } },
      kind: { type: 'string' },
      metadata: { allOf: [schemaReference(listMeta.name)], default: {} },
    },
    'x-kubernetes-group-version-kind': [{ ...gvk(kind), kind: `${kind.kind}List` }],
  })
}

const parameter = (name: string) => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } })
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'].map(parameter)

function pathsOf(kind: Kind): Record<string, object> {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`
  const collection = `${root}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  const content = { 'application/json': { schema: schemaReference(kind.message.name) } }
  const operation = (action: string, parameters: readonly object[] = []) => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk(kind),
    parameters,
    responses: { 200: { description: 'OK', content } },
  })
  return {
    [collection]: {
      get: operation('list'),
      post: { ...operation('post', writeParameters), requestBody: { content } },
      delete: operation('deletecollection', [parameter('dryRun')]),
    },
    [`${collection}/{name}`]: {
      get: operation('get'),
      put: { ...operation('put', writeParameters), requestBody: { content } },
      patch: operation('patch', [...writeParameters, parameter('force')]),
      delete: operation('delete', [parameter('dryRun')]),
    },
  }
}
