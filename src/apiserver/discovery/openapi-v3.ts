// OpenAPI v3: a document for each group and version, and small ones for the paths above them.
import { groupVersions as builtInGroupVersions } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { apiGroup, apiGroupList, apiVersions, versionInfo } from '../../api/meta/v1/discovery-types.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { openApi3, OpenApiSchemas, type OpenApiSchema } from '../../schema/openapi/openapi.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { customSchemas, schemasOfCustomOperations, type NamedSchemas } from './custom-schemas.ts'
import { mediaTypes, statusTexts } from './operation-media-types.ts'
import { addNamed, schemasFor } from './openapi-schemas.ts'
import { operationsOf } from './openapi-operations.ts'
import { pathItems, type Parameter, type PathOperation } from './path-items.ts'
import { rootPath } from './served-resources.ts'
import { serverVersion } from './server-version.ts'

const customHead = { openapi: '3.0.0', info: { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } }
const head = { openapi: '3.0.0', info: { title: 'Kubernetes', version: serverVersion.gitVersion } }

const fixedNames = ['api', 'apis', 'version']

/** The names of all documents, which are also the ends of their paths: `api/v1`, `apis/apps`, `apis/apps/v1`. */
export const openApiV3Names = ({ groupVersions }: Pick<KindCatalogue, 'groupVersions'>): readonly string[] =>
  [
    ...new Set([
      ...fixedNames,
      ...builtInGroupVersions.flatMap(({ group }) => (group === '' ? [] : [`apis/${group}`])),
      ...groupVersions.map((each) => rootPath(each).slice(1)),
    ]),
  ].toSorted()

/** Undefined when there is no such document. */
export function openApiV3(name: string, catalogue: KindCatalogue): object | undefined {
  const parts = name.split('/')
  if (name === 'api') return documentOf('/api/', apiVersions, 'APIVersions')
  if (name === 'apis') return documentOf('/apis/', apiGroupList, 'APIGroupList')
  if (name === 'version') return documentOf('/version/', versionInfo, undefined)
  if (parts.length === 2 && parts[0] === 'apis')
    return builtInGroupVersions.some(({ group }) => group === parts[1])
      ? documentOf(`/${name}/`, apiGroup, 'APIGroup')
      : undefined
  const [group = '', version = ''] = parts[0] === 'api' ? ['', ...parts.slice(1)] : parts.slice(1)
  return groupVersionDocument(catalogue.inGroupVersion({ group, version }))
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

function groupVersionDocument(served: readonly Kind[]): object | undefined {
  if (served.length === 0) return undefined
  const builtIn = served.filter(({ custom }) => custom === undefined)
  const custom = served.filter((kind) => kind.custom !== undefined)
  const schemas: NamedSchemas = {
    ...(builtIn.length === 0 ? {} : schemasFor(builtIn, openApi3).toObject()),
    ...(custom.length === 0 ? {} : { ...schemasOfCustomOperations(custom), ...customSchemas(custom, openApi3) }),
  }
  return {
    ...(builtIn.length === 0 ? customHead : head),
    paths: Object.fromEntries(
      pathItems(served.flatMap(operationsOf)).map(({ path, parameters, operations }) => [
        path,
        {
          ...unlessEmpty({ parameters: parameters.map(parameterObject) }),
          ...Object.fromEntries(operations.map((each) => [each.operation.method, operationObject(each)])),
        },
      ]),
    ),
    components: { schemas },
  }
}

/** Go's types omit empty lists: a document that has some is not equal to itself after decoding and encoding. */
const unlessEmpty = <T extends { readonly parameters: readonly object[] }>(part: T): T | Record<never, never> =>
  part.parameters.length === 0 ? {} : part

const parameterObject = ({ name, in: place, type }: Parameter): object => ({
  name,
  in: place,
  ...(place === 'path' ? { required: true } : {}),
  schema: { type, uniqueItems: true },
})

const referenceTo = (name: string): OpenApiSchema => ({ $ref: openApi3.root + name })

function operationObject({ operation, parameters }: PathOperation): object {
  const { action, id, tag, kind, body, response, statuses, method, isCustom } = operation
  const { requests, responses, patches } = mediaTypes(isCustom)
  const content = (types: readonly string[], schema: OpenApiSchema) =>
    Object.fromEntries(types.map((type) => [type, { schema }]))
  const responseContent =
    response === undefined ? { '*/*': { schema: { type: 'string' } } } : content(responses, referenceTo(response))
  return {
    tags: [tag],
    operationId: id,
    ...unlessEmpty({ parameters: parameters.map(parameterObject) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(method === 'patch' ? patches : requests, referenceTo(body)),
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
