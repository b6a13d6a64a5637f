// AdmissionSettings from flags: the enabled plugins and the configuration file of those that have one.
import { tolerationSecondsDefault } from '../../apiserver/admission/plugins/default-toleration-seconds.ts'
import { limitedResources } from '../../apiserver/admission/plugins/resource-quota/limited-resources.ts'
import {
  admissionPlugins,
  defaultAdmissionSettings,
  type AdmissionSettings,
} from '../../apiserver/admission/plugins.ts'
import { podSecurityConfiguration } from '../../apiserver/admission/plugins/pod-security/pod-security-configuration.ts'
import { ConfigReader } from '../../apiserver/config/config-reader.ts'
import type { Files } from '../../platform/files.ts'
import { countFlag, readYaml } from '../flags/flag-values.ts'
import type { PolicyFlagValues } from '../flags/policy-flags.ts'

/** The webhook plugins are listed by name, because they do not exist before the API server. */
const webhookNames = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']

export async function readAdmissionSettings(flags: PolicyFlagValues, files: Files): Promise<AdmissionSettings> {
  const names = [...admissionPlugins().map(({ name }) => name), ...webhookNames]
  const listed = (flag: 'enable-admission-plugins' | 'disable-admission-plugins'): readonly string[] => {
    const found = (flags[flag] ?? '').split(',').map((name) => name.trim())
    for (const name of found)
      if (name !== '' && !names.includes(name)) throw new Error(`${flag} plugin ${JSON.stringify(name)} is unknown`)
    return found.filter((name) => name !== '')
  }
  const enabled = listed('enable-admission-plugins')
  const disabled = listed('disable-admission-plugins')
  const both = enabled.filter((name) => disabled.includes(name))
  if (both.length > 0)
    throw new Error(`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`)
  const path = flags['admission-control-config-file']
  const tolerationSeconds = {
    notReady: countFlag(flags, 'default-not-ready-toleration-seconds', tolerationSecondsDefault.notReady),
    unreachable: countFlag(flags, 'default-unreachable-toleration-seconds', tolerationSecondsDefault.unreachable),
  }
  return {
    ...defaultAdmissionSettings,
    enabled,
    disabled,
    tolerationSeconds,
    ...(path === undefined ? {} : await readFile(path, files)),
  }
}

async function readFile(path: string, files: Files): Promise<Partial<AdmissionSettings>> {
  const file = new ConfigReader(await readYaml(path, files))
  file.oneOf('apiVersion', ['apiserver.config.k8s.io/v1'])
  file.oneOf('kind', ['AdmissionConfiguration'])
  const settings: { -readonly [Name in keyof AdmissionSettings]?: AdmissionSettings[Name] } = {}
  for (const plugin of file.objects('plugins')) {
    const name = plugin.oneOf('name', ['PodSecurity', 'ResourceQuota'])
    const other = plugin.string('path', '')
    // A path is relative to the file that contains it.
    const from = other.startsWith('/') ? other : path.slice(0, path.lastIndexOf('/') + 1) + other
    const own = plugin.object('configuration') ?? new ConfigReader(other === '' ? {} : await readYaml(from, files))
    plugin.rejectUnknownFields()
    if (name === 'PodSecurity') settings.podSecurity = podSecurityConfiguration(own)
    else settings.limitedResources = limitedResources(own)
  }
  file.rejectUnknownFields()
  return settings
}
