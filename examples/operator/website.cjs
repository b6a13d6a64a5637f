// @ts-check
// The custom resource of the operator. The types of websites come from the schema.
const { customResource } = require('coxswain')

const condition = /** @type {const} */ ({
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string' },
    message: { type: 'string' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64' },
  },
})

const website = customResource({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'websites.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'websites', kind: 'Website', shortNames: ['site'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Host', type: 'string', jsonPath: '.spec.host' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['host', 'image'],
                properties: {
                  host: { type: 'string', maxLength: 253, pattern: '^[a-z0-9.-]+$' },
                  image: { type: 'string', minLength: 1 },
                  replicas: { type: 'integer', format: 'int32', minimum: 0, maximum: 10, default: 1 },
                },
                'x-kubernetes-validations': [
                  { rule: 'self.host == oldSelf.host', message: 'the host cannot be changed' },
                ],
              },
              status: {
                type: 'object',
                properties: {
                  observedGeneration: { type: 'integer', format: 'int64' },
                  readyReplicas: { type: 'integer', format: 'int32' },
                  conditions: {
                    type: 'array',
                    items: condition,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
})

/** @typedef {import('coxswain').KindObject<typeof website>} Website */

module.exports = { website }
