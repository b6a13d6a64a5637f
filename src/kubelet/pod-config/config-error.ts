// ConfigError: a container cannot be configured, because something that it refers to is missing or invalid.

export class ConfigError extends Error {
  override name = 'ConfigError'
}
