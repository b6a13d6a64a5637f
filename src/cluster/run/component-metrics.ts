// The metrics that every component's process has: of the process itself and of its version.
import type { Metrics } from '../../base/observability/metrics.ts'
import { serverVersion } from '../../apiserver/discovery/server-version.ts'
import { registerProcessMetrics } from '../../platform/process/process-metrics.ts'
import type { ProcessStats } from '../../platform/process/process-stats.ts'

export function registerComponentMetrics(metrics: Metrics, stats: ProcessStats): void {
  registerProcessMetrics(metrics, stats)
  const { buildDate, compiler, gitCommit, gitTreeState, gitVersion, goVersion, major, minor, platform } = serverVersion
  const build = {
    build_date: buildDate,
    compiler,
    git_commit: gitCommit,
    git_tree_state: gitTreeState,
    git_version: gitVersion,
    go_version: goVersion,
    major,
    minor,
    platform,
  }
  metrics
    .gauge(
      'kubernetes_build_info',
      "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
      Object.keys(build),
    )
    .set(build, 1)
  const version = `${major}.${minor}`
  const compatibility = {
    binary: gitVersion.slice(1),
    component: 'kube',
    emulation: version,
    min_compat: `${major}.${Number(minor) - 1}`,
  }
  metrics
    .gauge(
      'version_info',
      '[ALPHA] Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers.',
      Object.keys(compatibility),
    )
    .set(compatibility, 1)
}
