// Paths and objects that tests of the server's verbs use.

export const configMaps = '/api/v1/namespaces/default/configmaps'
export const deployments = '/apis/apps/v1/namespaces/default/deployments'
export const pods = '/api/v1/namespaces/default/pods'

export const configMap = (name: string, data: object = { a: '1' }, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  data,
})
export const labels = { app: 'web' }
export const web = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
export const aPod = (name: string, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
