// OpenAPI v2: one document for everything. It consists of parts, so that a change of a custom kind changes only one of them.
import { kinds as builtInKinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { openApi2, type OpenApiSchema } from '../../schema/openapi/openapi.ts'
import { customSchemas, type NamedSchemas } from './custom-schemas.ts'
import { operationsOf } from './openapi-operations.ts'
import { mediaTypes, statusTexts } from './operation-media-types.ts'
import { pathItems, type Parameter, type PathOperation } from './path-items.ts'
import { schemasFor } from './openapi-schemas.ts'
import { serverVersion } from './server-version.ts'

export const openApiV2Head = { swagger: '2.0', info: { title: 'Kubernetes', version: serverVersion.gitVersion } }

export interface OpenApiV2Part {
  readonly paths: Readonly<Record<string, object>>
  readonly definitions: NamedSchemas
}

/** All built-in kinds, and the gated ones that are served. Custom kinds refer to its definitions. */
export function builtInV2Part(gated: readonly Kind[]): OpenApiV2Part {
  const kinds = [...builtInKinds, ...gated]
  return { paths: pathsOf(kinds), definitions: schemasFor(kinds, openApi2).toObject() }
}

export const customV2Part = (kinds: readonly Kind[]): OpenApiV2Part => ({
  paths: pathsOf(kinds),
  definitions: customSchemas(kinds, openApi2),
})

const pathsOf = (kinds: readonly Kind[]): OpenApiV2Part['paths'] =>
  Object.fromEntries(
    pathItems(kinds.flatMap(operationsOf)).map(({ path, parameters, operations }) => [
      path,
      {
        ...unlessEmpty(parameters.map(parameterObject)),
        ...Object.fromEntries(operations.map((each) => [each.operation.method, operationObject(each)])),
      },
    ]),
  )

const parameterObject = ({ name, in: place, type }: Parameter): object => ({
  uniqueItems: true,
  type,
  name,
  in: place,
  ...(place === 'path' ? { required: true } : {}),
})

const unlessEmpty = (parameters: readonly object[]): object => (parameters.length === 0 ? {} : { parameters })

const referenceTo = (name: string): OpenApiSchema => ({ $ref: openApi2.root + name })

function operationObject({ operation, parameters }: PathOperation): object {
  const { action, id, tag, kind, body, response, statuses, method, isCustom } = operation
  const { requests, responses, patches } = mediaTypes(isCustom)
  const schema = response === undefined ? { type: 'string' } : referenceTo(response)
  return {
    tags: [tag],
    operationId: id,
    consumes: method === 'patch' ? patches : requests,
    produces: response === undefined ? ['*/*'] : responses,
    schemes: ['https'],
    ...unlessEmpty([
      ...(body === undefined
        ? []
        : [
            { name: 'body', in: 'body', ...(method === 'delete' ? {} : { required: true }), schema: referenceTo(body) },
          ]),
      ...parameters.map(parameterObject),
    ]),
    responses: {
      ...Object.fromEntries(statuses.map((code) => [code, { description: statusTexts[code], schema }])),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: kind.group, kind: kind.kind, version: kind.version },
  }
}
