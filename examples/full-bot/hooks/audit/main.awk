function main() {
  print V["occurred_at"] " " V["tool_name"] " " V["body_status"] " " V["run_id"] >> (ENVIRON["UNDERSTUDY_DATA_DIR"] "/audit.log")
  print "{}"
}
