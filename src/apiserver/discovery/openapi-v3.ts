// OpenAPI v3: a document for each group and version, and small ones for the paths above them.
import { groupVersions, kinds } from '../../api/kinds.ts'
import { apiGroup, apiGroupList, apiVersions, versionInfo } from '../../api/meta/v1/discovery-types.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { openApi3, OpenApiSchemas, type OpenApiSchema } from '../../schema/openapi/openapi.ts'
import { addNamed, schemasFor } from './openapi-schemas.ts'
import { operationsOf, type Operation } from './openapi-operations.ts'
import { rootPath } from './served-resources.ts'
import { serverVersion } from './server-version.ts'

const head = { openapi: '3.0.0', info: { title: 'Kubernetes', version: serverVersion.gitVersion } }

/** The names of all documents, which are also the ends of their paths: `api/v1`, `apis/apps`, `apis/apps/v1`. */
export const openApiV3Names: readonly string[] = [
  ...new Set([
    'api',
    'apis',
    'version',
    ...groupVersions.flatMap((entry) => {
      const path = rootPath(entry).slice(1)
      return entry.group === '' ? [path] : [`apis/${entry.group}`, path]
    }),
  ]),
].toSorted()

/** Undefined when there is no such document. */
export function openApiV3(name: string): object | undefined {
  const parts = name.split('/')
  if (name === 'api') return documentOf('/api/', apiVersions, 'APIVersions')
  if (name === 'apis') return documentOf('/apis/', apiGroupList, 'APIGroupList')
  if (name === 'version') return documentOf('/version/', versionInfo, undefined)
  if (parts.length === 2 && parts[0] === 'apis')
    return groupVersions.some(({ group }) => group === parts[1])
      ? documentOf(`/${name}/`, apiGroup, 'APIGroup')
      : undefined
  const [group = '', version = ''] = parts[0] === 'api' ? ['', ...parts.slice(1)] : parts.slice(1)
  return groupVersionDocument(group, version)
}

/** A document with one path that returns one message. */
function documentOf(path: string, message: Message, kind: string | undefined): object {
  const schemas = new OpenApiSchemas(openApi3)
  if (kind === undefined) schemas.add(message)
  else addNamed(schemas, message, [{ group: '', version: 'v1', kind }])
  const content = { 'application/json': { schema: schemas.reference(message.name) } }
  return {
    ...head,
    paths: { [path]: { get: { responses: { 200: { description: 'OK', content } } } } },
    components: { schemas: schemas.toObject() },
  }
}

function groupVersionDocument(group: string, version: string): object | undefined {
  const served = kinds.filter((kind) => kind.group === group && kind.version === version)
  if (served.length === 0) return undefined
  const schemas = schemasFor(served, openApi3)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of served.flatMap(operationsOf)) {
    // safe name: a path begins with a slash.
    const item = (paths[operation.path] ??= unlessEmpty({ parameters: pathParameters(operation.path) }))
    item[operation.method] = operationObject(operation, schemas)
  }
  return { ...head, paths, components: { schemas: schemas.toObject() } }
}

/** Go's types omit empty lists: a document that has some is not equal to itself after decoding and encoding. */
const unlessEmpty = <T extends { readonly parameters: readonly object[] }>(part: T): T | Record<never, never> =>
  part.parameters.length === 0 ? {} : part

const pathParameters = (path: string): object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  }))

const responseTypes = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml']
export const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]

function operationObject(operation: Operation, schemas: OpenApiSchemas): object {
  const { action, id, tag, kind, parameters, body, response, statuses, method } = operation
  const content = (types: readonly string[], schema: OpenApiSchema) =>
    Object.fromEntries(types.map((type) => [type, { schema }]))
  const responseContent =
    response === undefined
      ? { '*/*': { schema: { type: 'string' } } }
      : content(responseTypes, schemas.reference(response))
  return {
    tags: [tag],
    operationId: id,
    ...unlessEmpty({
      parameters: Object.entries(parameters).map(([name, type]) => ({
        name,
        in: 'query',
        schema: { type, uniqueItems: true },
      })),
    }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(method === 'patch' ? patchTypes : ['*/*'], schemas.reference(body)),
            ...(method === 'delete' ? {} : { required: true }),
          },
        }),
    responses: {
      ...Object.fromEntries(
        statuses.map((code) => [code, { description: statusTexts[code], content: responseContent }]),
      ),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: kind.group, kind: kind.kind, version: kind.version },
  }
}

export const statusTexts: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
