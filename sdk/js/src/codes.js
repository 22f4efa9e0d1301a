// The host's common codes that a capability may answer without a declaration. A test compares them with
// sdk/codes.

export const COMMON_CODES = [
  "phone_binding_required",
  "approval_required",
  "approval_denied",
  "approval_expired",
  "validation_failed",
  "cursor_invalid",
  "not_found",
  "resource_gone",
  "not_permitted",
  "not_owner",
  "not_participant",
  "confirm_required",
  "version_conflict",
  "invalid_transition",
  "rate_limited",
  "quota_exceeded",
  "insufficient_credits",
  "account_frozen",
  "internal_error",
  "dependency_unavailable",
  "maintenance",
];
