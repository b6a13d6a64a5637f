// ConfigError: a container cannot be made as its pod says: something that it refers to is missing or wrong.

export class ConfigError extends Error {
  override name = 'ConfigError'
}
