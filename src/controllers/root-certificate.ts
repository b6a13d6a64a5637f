// Root certificate: publishes the authorities of API servers' certificates in the ConfigMap `kube-root-ca.crt` of each namespace. A server
// whose authorities are replaced changes that of kube-system, and then those of all namespaces are compared.
import { configMap } from '../api/core/v1/config-map.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { firstRootCertificate, rootCertificateName } from '../api/core/v1/root-certificate.ts'
import { isBeingDeleted, keyOf, objectKey, splitKey } from '../api/meta/object.ts'
import { hasReason, StatusError } from '../api/errors/status-error.ts'
import { equalValues } from '../schema/json/json-value.ts'
import { isNamespaceEnding } from './runtime/change-runner.ts'
import { defineController } from './runtime/controller.ts'

const annotations = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
    'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
}

export const rootCertificateController = defineController({
  name: 'root-certificate',
  account: 'root-ca-cert-publisher',
  watches: [configMap, namespace],
  enqueues(kind, { key, now }, { all }) {
    if (kind.kind === namespace.kind) return now === undefined ? [] : [key]
    if (key === firstRootCertificate) return Array.from(all(namespace), keyOf)
    const { namespace: namespaceName, name } = splitKey(key)
    return name === rootCertificateName ? [namespaceName] : []
  },
  async reconcile(key, tools, context) {
    const { client, cached, settings } = tools
    const { certificateAuthority } = settings
    const found = cached(namespace, key)
    if (certificateAuthority === undefined || found === undefined || isBeingDeleted(found)) return undefined
    const data = { 'ca.crt': certificateAuthority() }
    const known = cached(configMap, objectKey(key, rootCertificateName))
    if (known !== undefined && equalValues(known.data, data)) return undefined
    const maps = client.of(configMap)
    const startMs = tools.monotonicMs
    const count = (code: number) => {
      tools.metrics.rootCertificateSyncs.add({ code: String(code) })
      tools.metrics.rootCertificateSeconds.observe({ code: String(code) }, (tools.monotonicMs - startMs) / 1000)
    }
    try {
      if (known === undefined)
        await maps.create({ metadata: { name: rootCertificateName, annotations }, data }, key, context)
      else {
        const metadata = { ...known.metadata, annotations: { ...known.metadata.annotations, ...annotations } }
        await maps.update({ ...known, metadata, data }, context)
      }
      count(200)
    } catch (error) {
      count(error instanceof StatusError ? error.code : 500)
      // Another writer created it, or the namespace is terminating: there is nothing left to do. A quota may have room later.
      if (!hasReason(error, 'AlreadyExists') && !isNamespaceEnding(error) && !hasReason(error, 'NotFound')) throw error
    }
    return undefined
  },
})
