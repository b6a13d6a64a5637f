// OpenAPI v2: one document for everything.
import { kinds } from '../../api/kinds.ts'
import { openApi2, type OpenApiSchemas } from '../../schema/openapi/openapi.ts'
import { schemasFor } from './openapi-schemas.ts'
import { patchTypes, statusTexts } from './openapi-v3.ts'
import { operationsOf, type Operation } from './openapi-operations.ts'
import { serverVersion } from './server-version.ts'

export function openApiV2(): object {
  const schemas = schemasFor(kinds, openApi2)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of kinds.flatMap(operationsOf)) {
    // safe name: a path begins with a slash.
    const item = (paths[operation.path] ??= { parameters: pathParameters(operation.path) })
    item[operation.method] = operationObject(operation, schemas)
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: serverVersion.gitVersion },
    paths: Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    definitions: schemas.toObject(),
  }
}

const pathParameters = (path: string): object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    uniqueItems: true,
    type: 'string',
    name,
    in: 'path',
    required: true,
  }))

const responseTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

function operationObject(operation: Operation, schemas: OpenApiSchemas): object {
  const { action, id, tag, kind, parameters, body, response, statuses, method } = operation
  const schema = response === undefined ? { type: 'string' } : schemas.reference(response)
  return {
    tags: [tag],
    operationId: id,
    consumes: method === 'patch' ? patchTypes : ['*/*'],
    produces: response === undefined ? ['*/*'] : responseTypes,
    schemes: ['https'],
    parameters: [
      ...(body === undefined
        ? []
        : [
            {
              name: 'body',
              in: 'body',
              ...(method === 'delete' ? {} : { required: true }),
              schema: schemas.reference(body),
            },
          ]),
      ...Object.entries(parameters).map(([name, type]) => ({ uniqueItems: true, type, name, in: 'query' })),
    ],
    responses: {
      ...Object.fromEntries(statuses.map((code) => [code, { description: statusTexts[code], schema }])),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: kind.group, kind: kind.kind, version: kind.version },
  }
}
