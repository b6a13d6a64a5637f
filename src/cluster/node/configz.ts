// configz: the effective KubeletConfiguration that the kubelet serves at /configz.
import { durationTextOfMs } from '../../schema/scalar/duration.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'
import { quantityText } from '../../schema/scalar/quantity.ts'
import type { Threshold } from '../../kubelet/eviction/thresholds.ts'
import type { KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import type { KubeletProcessSettings } from '../flags/kubelet-process-flags.ts'

const nanosPerUnit = 1_000_000_000n

/** `own`: settings of a kubelet in its own process. */
export function configz(settings: KubeletSettings, own?: KubeletProcessSettings): JsonObject {
  const { imageGc, dns, logRotation, shutdownPeriods, manifestDirectory, manifestUrl } = settings
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    enableServer: true,
    registerNode: true,
    readOnlyPort: 0,
    cgroupDriver: 'cgroupfs',
    ...accessOf(own),
    ...(own === undefined ? {} : processFields(own)),
    cgroupRoot: settings.cgroupRoot,
    clusterDomain: dns.domain,
    ...(dns.servers.length === 0 ? {} : { clusterDNS: dns.servers }),
    resolvConf: dns.resolvConfPath,
    containerLogMaxFiles: logRotation.filesMax,
    containerLogMaxSize: quantityText(BigInt(logRotation.fileBytesMax) * nanosPerUnit, '1Ki'),
    ...evictionFields(settings.thresholds),
    evictionMaxPodGracePeriod: settings.evictionPodGraceSecondsMax,
    evictionPressureTransitionPeriod: durationTextOfMs(settings.pressureTransitionMs),
    httpCheckFrequency: durationTextOfMs(settings.manifestUrlIntervalMs),
    imageGCHighThresholdPercent: imageGc.highPercent,
    imageGCLowThresholdPercent: imageGc.lowPercent,
    imageMinimumGCAge: durationTextOfMs(imageGc.ageMsMin),
    imageMaximumGCAge: durationTextOfMs(imageGc.ageMsMax),
    kubeReserved: settings.kubeReserved,
    systemReserved: settings.systemReserved,
    maxPods: settings.podsMax,
    ...(settings.allowedUnsafeSysctls.length === 0 ? {} : { allowedUnsafeSysctls: settings.allowedUnsafeSysctls }),
    ...(settings.providerId === undefined ? {} : { providerID: settings.providerId }),
    ...(shutdownPeriods.length === 0
      ? {}
      : {
          shutdownGracePeriodByPodPriority: shutdownPeriods.map(({ priority, seconds }) => ({
            priority,
            shutdownGracePeriodSeconds: seconds,
          })),
        }),
    ...(manifestDirectory === undefined ? {} : { staticPodPath: manifestDirectory }),
    ...(manifestUrl === undefined ? {} : { staticPodURL: manifestUrl }),
  }
}

const accessOf = (own: KubeletProcessSettings | undefined): JsonObject => ({
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true, ...(own === undefined ? {} : { cacheTTL: durationTextOfMs(own.reviews.tokenMs) }) },
  },
  authorization: {
    mode: 'Webhook',
    ...(own === undefined
      ? {}
      : {
          webhook: {
            cacheAuthorizedTTL: durationTextOfMs(own.reviews.allowedMs),
            cacheUnauthorizedTTL: durationTextOfMs(own.reviews.deniedMs),
          },
        }),
  },
})

const processFields = (own: KubeletProcessSettings): JsonObject => ({
  ...(own.address === undefined ? {} : { address: own.address }),
  port: own.port,
  ...(own.health === undefined
    ? { healthzPort: 0 }
    : { healthzBindAddress: own.health.host, healthzPort: own.health.port }),
  ...(own.runtimeSocket === undefined ? {} : { containerRuntimeEndpoint: `unix://${own.runtimeSocket}` }),
  ...(own.taints.length === 0 ? {} : { registerWithTaints: own.taints.map((taint) => ({ ...taint })) }),
  rotateCertificates: own.rotatesClient,
  serverTLSBootstrap: own.rotatesServing,
})

function evictionFields(thresholds: readonly Threshold[]): JsonObject {
  const hard = thresholds.filter(({ graceMs }) => graceMs === 0)
  const soft = thresholds.filter(({ graceMs }) => graceMs > 0)
  const table = (chosen: readonly Threshold[], text: (one: Threshold) => string | undefined) =>
    Object.fromEntries(chosen.map((one) => [one.signal, text(one)]).filter(([, value]) => value !== undefined))
  const reclaims = table(thresholds, ({ reclaim }) => reclaim?.text)
  return {
    evictionHard: table(hard, ({ below }) => below.text),
    ...(soft.length === 0
      ? {}
      : {
          evictionSoft: table(soft, ({ below }) => below.text),
          evictionSoftGracePeriod: table(soft, ({ graceMs }) => durationTextOfMs(graceMs)),
        }),
    ...(Object.keys(reclaims).length === 0 ? {} : { evictionMinimumReclaim: reclaims }),
  }
}
