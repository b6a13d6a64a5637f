// The media types of bodies and the texts of status codes in OpenAPI documents.

interface MediaTypes {
  readonly requests: readonly string[]
  readonly responses: readonly string[]
  readonly patches: readonly string[]
}

const builtIn: MediaTypes = {
  requests: ['*/*'],
  responses: ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'],
  patches: [
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
  ],
}

const custom: MediaTypes = {
  requests: ['application/json', 'application/yaml'],
  responses: ['application/json', 'application/yaml'],
  patches: ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'],
}

export const mediaTypes = (isCustom: boolean): MediaTypes => (isCustom ? custom : builtIn)

export const statusTexts: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
